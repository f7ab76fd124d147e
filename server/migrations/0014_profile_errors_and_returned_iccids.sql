-- Why a device could not download or install the profile. Shown only while the profile's state is `error`.
alter table esims add column profile_error jsonb;

-- ICCIDs of the operator's ranges that the SM-DP+ did not take: they are assigned again before new ones. Suspect ones, whose
-- number the SM-DP+ objected to, are assigned when nothing else is left.
create table returned_iccids (
  iccid       text collate "C" primary key,
  is_suspect  boolean not null,
  returned_at timestamptz not null default now()
);
