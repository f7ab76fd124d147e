-- What an eSIM used on a day of UTC, as far as its records have been deleted. Added up in the transaction that deletes them.
create table usage_days (
  iccid text collate "C" not null,
  day   timestamptz not null,
  bytes bigint not null,
  primary key (iccid, day)
);
