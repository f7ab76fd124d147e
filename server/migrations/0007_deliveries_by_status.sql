-- An endpoint's failed and canceled deliveries, which are few among many: nearly all succeed, and the index by endpoint finds
-- those at once; the pending ones have an index of their own.
create index deliveries_undelivered on deliveries (account_id, endpoint_id, status, id) where status in ('failed', 'canceled');
