-- concurrently
-- Deliveries that succeed have no entry in these.
create index concurrently deliveries_missed on deliveries (account_id, endpoint_id, event_id)
  where status in ('failed', 'canceled') and not is_superseded;
create index concurrently deliveries_canceled on deliveries (account_id, event_id) where status = 'canceled';
