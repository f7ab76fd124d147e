-- What the SM-DP+ calls the product's profiles; the operator's word, shown to nobody else.
alter table products add column profile_type text;

-- How far each of the operator's ICCID ranges is used up. The key is the range's first number without its check digit, so
-- a range that is given more room goes on where it stood.
create table iccid_ranges (
  first_number text collate "C" primary key,
  taken        bigint not null,
  -- How far it was before the last taking: what lies between the two is the last taker's.
  taken_before bigint not null
);

-- A data session without data is a record too: it tells that the eSIM attached.
alter table usage_records drop constraint usage_records_bytes_check;
alter table usage_records add constraint usage_records_bytes_check check (bytes >= 0);
