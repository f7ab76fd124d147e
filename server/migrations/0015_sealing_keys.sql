-- The encryption keys that stored secrets may need. A process records its first key before it encrypts anything with it, and a
-- complete `reseal` removes all others, so a process that lacks one of these keys is noticed without reading the secrets.
create table sealing_keys (
  id            text primary key check (id ~ '^[0-9a-f]{8}$'),
  first_used_at timestamptz not null default now()
);

insert into sealing_keys (id, first_used_at)
select resealed_key_id, resealed_at
from sealing
where resealed_key_id is not null;
