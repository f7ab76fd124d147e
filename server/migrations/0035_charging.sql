-- A bundle copies what it was sold with. Null in rows of older processes, which then have the product's countries.
alter table bundles
  add column countries text[],
  add column price jsonb,
  -- Set once a correction has lowered used_bytes: a threshold is told once.
  add column most_used_bytes bigint;

alter table esims
  -- Usage that no bundle covered, and usage that was reported after the termination.
  add column uncovered_bytes bigint not null default 0,
  add column late_bytes bigint not null default 0,
  -- The last day with uncovered usage that was told, and the countries, separated by spaces.
  add column not_covered_on date,
  add column not_covered_in text,
  add column terminated_at timestamptz;

-- Where a record was counted: on one bundle, or in parts. Both are null in rows of older processes.
alter table usage_records
  add column country text,
  add column bundle_id uuid,
  add column parts jsonb,
  add column corrected_by text;

-- Records that were refused. `account_id` is the account of the key that reported them.
create table rejected_usage (
  account_id  uuid not null,
  id          uuid not null,
  iccid       text collate "C" not null,
  record_id   text collate "C" not null,
  bytes       bigint not null,
  observed_at timestamptz not null,
  country     text,
  corrects    text,
  reason      text not null,
  rejected_at timestamptz not null,
  primary key (account_id, iccid, record_id)
);

create index rejected_usage_by_id on rejected_usage (id);
create index rejected_usage_by_iccid on rejected_usage (iccid, id);
