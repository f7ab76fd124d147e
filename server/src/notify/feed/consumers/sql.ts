import { lockAccount } from '../../../accounts/lock-account.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { count, many, one, run, value } from '../../../platform/db/statement.ts';
import type { Place } from '../cursor.ts';

export type ConsumerRow = {
  name: string;
  position: number;
  mark: number;
  /** Null: all types. */
  types: string[] | null;
  created_at: Date;
  behind: number;
  /** The id of the first event after its place; null if there is none. */
  next_event_id: string | null;
};

/** Selects a `ConsumerRow` from `event_consumers c`. */
const consumerColumns = `c.name, c.position, c.mark, c.types, c.created_at,
  greatest(0, (select last_position from event_feed_heads where account_id = c.account_id) - c.position) as behind,
  (select run.event_ids[(c.position + 2 - run.first_position)::integer]
    from event_feed run
    where run.account_id = c.account_id and run.first_position <= c.position + 1
    order by run.first_position desc
    limit 1) as next_event_id`;

export const findConsumerRow = one<ConsumerRow, [accountUuid: string, name: string]>('consumer_find')`
select ${consumerColumns}
from event_consumers c
where c.account_id = $1 and c.name = $2`;

/** In the order of their names. */
export const listConsumerRows = many<
  ConsumerRow,
  [accountUuid: string, page: { afterName: string | null; count: number }]
>('consumer_list', (accountUuid, { afterName, count }) => [accountUuid, afterName ?? '', count])`
select ${consumerColumns}
from event_consumers c
where c.account_id = $1 and c.name > $2
order by c.name
limit $3`;

export type NewConsumer = {
  accountUuid: string;
  name: string;
  place: Place;
  types: readonly string[] | null;
  createdAt: Date;
};

const insertIfRoom = value<boolean, [consumer: NewConsumer, limit: number]>(
  'consumer_insert',
  ({ accountUuid, name, place, types, createdAt }, limit) => [
    accountUuid,
    name,
    place.position,
    place.mark,
    types,
    createdAt,
    limit,
  ],
)`
with room as (
  select count(*) < $7 as is_left
  from event_consumers
  where account_id = $1 and name <> $2
), inserted as (
  insert into event_consumers (account_id, name, position, mark, types, created_at)
  select $1, $2, $3, $4, $5, $6
  from room
  where is_left
  on conflict (account_id, name) do nothing
)
select is_left as "hasRoom"
from room`;

/**
 * Does nothing if the name is taken. Returns false if the account has `limit` others already. Creations within an account wait for
 * each other, so that two cannot take the last place; the count needs a snapshot that is newer than the lock.
 */
export async function insertConsumer(db: Queryable, consumer: NewConsumer, limit: number): Promise<boolean> {
  await lockAccount(db, consumer.accountUuid);
  return (await insertIfRoom(db, consumer, limit)) ?? false;
}

type Move = { accountUuid: string; name: string; place: Place };

const ofMove = ({ accountUuid, name, place }: Move) => [accountUuid, name, place.position, place.mark];

/** Returns 0 if there is no such consumer, or if its place is further. */
export const advanceConsumer = count<[move: Move]>('consumer_advance', ofMove)`
update event_consumers
set position = $3, mark = $4
where account_id = $1 and name = $2 and position <= $3
returning 1`;

/** Does nothing if there is no such consumer. */
export const moveConsumer = run<[move: Move]>('consumer_move', ofMove)`
update event_consumers
set position = $3, mark = $4
where account_id = $1 and name = $2`;

export const deleteConsumerRow = count<[accountUuid: string, name: string]>('consumer_delete')`
delete from event_consumers
where account_id = $1 and name = $2
returning 1`;
