-- Links to a page that installs an eSIM. Tokens are stored as hashes.
create table install_links (
  account_id   uuid not null,
  id           uuid not null,
  iccid        text collate "C" not null,
  hash         bytea not null,
  -- Null: the language of the reader's browser.
  language     text,
  return_url   text,
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  opened_at    timestamptz,
  installed_at timestamptz,
  primary key (account_id, id)
);

create unique index install_links_by_hash on install_links (hash);
create index install_links_by_esim on install_links (account_id, iccid, id);
