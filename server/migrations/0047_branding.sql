-- What the pages of an account's install links show of it. An account without a row has the defaults.
create table branding (
  account_id  uuid primary key,
  name        text,
  color       text,
  logo        bytea,
  support_url text,
  top_up_url  text,
  apn         text,
  messages    jsonb not null
);
