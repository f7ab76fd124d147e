/** Recorded inside PostgreSQL, because no API response shows who holds a lease. The move of an account takes all of them. */
export const watchLeases = `
create table stolen_leases (endpoint_id uuid not null, at timestamptz not null);
create function note_stolen_lease() returns trigger language plpgsql as $$ begin
  insert into stolen_leases values (new.endpoint_id, clock_timestamp());
  return null;
end $$;
create trigger note_stolen_lease after update on endpoint_leases for each row
  when (old.holder <> new.holder and old.leased_until > now() and new.holder <> new.account_id) execute function note_stolen_lease()`;

/**
 * One of 16 events commits up to 0.2 s late, a fraction of every timeout and lease. So events often commit in another order than they were
 * written in.
 */
export const delaySomeCommits = `
create function delay_commit() returns trigger language plpgsql as $$ begin
  perform pg_sleep(random() * 0.2);
  return null;
end $$;
create constraint trigger delay_commit after insert on events deferrable initially deferred for each row
  when (right(new.id::text, 1) = '0') execute function delay_commit()`;
