-- Webhook endpoints of the deployment: rows of `webhook_endpoints` under the nil UUID, which get the events of all accounts.

-- How far such an endpoint is in the deployment's feed: one statement moves it forward and queues the deliveries.
create table endpoint_places (
  account_id  uuid not null,
  endpoint_id uuid not null,
  position    bigint not null,
  primary key (account_id, endpoint_id),
  foreign key (account_id, endpoint_id) references webhook_endpoints (account_id, id) on delete cascade
) with (fillfactor = 50);

-- Whose the event is. Null if it is the account's own.
alter table delivery_queue add column event_account_id uuid;
alter table blocked_deliveries add column event_account_id uuid;
alter table deliveries add column event_account_id uuid;
