import type { Queryable } from '../../../../platform/db/database.ts';
import type { Place } from '../../cursor.ts';

export type NewConsumer = {
  accountUuid: string;
  name: string;
  place: Place;
  types: readonly string[] | null;
  createdAt: Date;
};

/**
 * Does nothing if the name is taken. Returns false if the account has `limit` others already. Creations within an account wait for
 * each other, so that two cannot take the last place; the count needs a snapshot that is newer than the lock.
 */
export async function insertConsumer(
  db: Queryable,
  { accountUuid, name, place, types, createdAt }: NewConsumer,
  limit: number,
): Promise<boolean> {
  await db.query(
    {
      name: 'consumer_lock_account',
      text: `
select id
from accounts
where id = $1
for no key update`,
    },
    [accountUuid],
  );
  const [row] = await db.query<{ hasRoom: boolean }>(
    {
      name: 'consumer_insert',
      text: `
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
from room`,
    },
    [accountUuid, name, place.position, place.mark, types, createdAt, limit],
  );
  return row?.hasRoom ?? false;
}
