/**
 * An order's event commits only when a later test event is in the feed and a consumer has acknowledged it; test events wait for an order's
 * event that is written and not committed. Each waits for what it needs, not for a fixed time, so a slow machine changes nothing.
 */
export const letTestEventsPass = `
create function lock_of_orders(account_id uuid) returns int language sql immutable
  return ('x' || left(md5(account_id::text), 7))::bit(28)::int;

create function show_that_order_waits() returns trigger language plpgsql as $$ begin
  perform pg_advisory_xact_lock_shared(7, lock_of_orders(new.account_id));
  return null;
end $$;
create trigger show_that_order_waits after insert on events for each row
  when (new.type = 'esim.provisioned') execute function show_that_order_waits();

create function wait_for_order() returns trigger language plpgsql as $$ begin
  for round in 1..40 loop
    exit when exists (
      select from pg_locks
      where locktype = 'advisory' and classid = 7 and objid = lock_of_orders(new.account_id) and objsubid = 2)
    or exists (
      select from events
      where account_id = new.account_id and type = 'esim.provisioned');
    perform pg_sleep(0.05);
  end loop;
  return new;
end $$;
create trigger wait_for_order before insert on events for each row
  when (new.type like 'test.%') execute function wait_for_order();

create function wait_to_be_passed() returns trigger language plpgsql as $$ begin
  for round in 1..100 loop
    exit when exists (
      select from event_feed run, event_consumers reader
      where run.account_id = new.account_id
        and new.id < any (run.event_ids)
        and reader.account_id = run.account_id
        and reader.position >= run.first_position + cardinality(run.event_ids) - 1);
    perform pg_sleep(0.05);
  end loop;
  return null;
end $$;
create constraint trigger wait_to_be_passed after insert on events deferrable initially deferred for each row
  when (new.type = 'esim.provisioned') execute function wait_to_be_passed()`;
