import type { Queryable } from '../db/database.ts';
import type { NewEvent } from './new-event.ts';

/**
 * The one way to write events, as a piece of SQL that other features' statements carry: what happened and the event that
 * tells of it are one statement, so neither exists without the other. `source` is a relation with the columns
 * account_id, event_id, event_type, event_at, event_body; no row, no event.
 */
export function emitFrom(source: string): string {
  return `
    insert into events (account_id, id, type, created_at, body)
    select account_id, event_id, event_type, event_at, event_body from ${source}`;
}

/** The columns that `emitFrom` reads, for arrays given as five parameters from `$first` on; see `eventValues`. */
export function eventsGiven(first: number): string {
  const [a, b, c, d, e] = [0, 1, 2, 3, 4].map((offset) => `$${first + offset}`);
  return `unnest(${a}::uuid[], ${b}::uuid[], ${c}::text[], ${d}::timestamptz[], ${e}::text[])
    as given (account_id, event_id, event_type, event_at, event_body)`;
}

export function eventValues(events: NewEvent[]): unknown[] {
  return [
    events.map((event) => event.accountUuid),
    events.map((event) => event.uuid),
    events.map((event) => event.type),
    events.map((event) => event.createdAt),
    events.map((event) => event.body),
  ];
}

/** For a change that is several statements in one transaction: its events, in that transaction. */
export async function emit(tx: Queryable, events: NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query(
    { name: 'event_emit', text: `with given as (select * from ${eventsGiven(1)}) ${emitFrom('given')}` },
    eventValues(events),
  );
}
