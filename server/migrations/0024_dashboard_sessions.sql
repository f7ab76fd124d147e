-- Sign-ins to the dashboard. A session stands for the API key that it was opened with, and ends with it. Tokens are stored as hashes.

create table dashboard_sessions (
  hash       bytea primary key,
  key_id     uuid not null references api_keys (id),
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create index dashboard_sessions_by_expiry on dashboard_sessions (expires_at);
-- A key has a bounded number: the oldest end when new ones begin.
create index dashboard_sessions_by_key on dashboard_sessions (key_id, created_at);

-- Links that sign in once.
create table dashboard_links (
  hash       bytea primary key,
  key_id     uuid not null references api_keys (id),
  expires_at timestamptz not null
);

create index dashboard_links_by_expiry on dashboard_links (expires_at);
