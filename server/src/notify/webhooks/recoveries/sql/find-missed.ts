import { uuids } from '../../../../platform/db/binary-array.ts';
import type { Queryable } from '../../../../platform/db/database.ts';
import { isMissed } from './is-missed.ts';

/** Those of the events that a recovery would queue. */
export async function findMissed(
  db: Queryable,
  { account_id, endpoint_id }: { account_id: string; endpoint_id: string },
  eventUuids: string[],
): Promise<Set<string>> {
  const rows = await db.query<{ event_id: string }>(
    {
      name: 'recovery_find_missed',
      text: `
select given.event_id
from unnest($3::uuid[]) as given (event_id)
where ${isMissed}`,
    },
    [account_id, endpoint_id, uuids(eventUuids)],
  );
  return new Set(rows.map(({ event_id }) => event_id));
}
