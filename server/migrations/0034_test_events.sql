-- Sent with `POST /v1/events/test`. Their deliveries say so in a header.
alter table events add column is_test boolean not null default false;
