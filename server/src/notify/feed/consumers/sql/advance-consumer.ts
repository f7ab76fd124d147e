import type { Queryable } from '../../../../platform/db/database.ts';
import type { Place } from '../../cursor.ts';

type Advance = { accountUuid: string; name: string; place: Place };

/** Returns false if there is no such consumer, or if its place is further. */
export async function advanceConsumer(
  db: Queryable,
  { accountUuid, name, place }: Advance,
): Promise<boolean> {
  const rows = await db.query(
    {
      name: 'consumer_advance',
      text: `
update event_consumers
set position = $3, mark = $4
where account_id = $1 and name = $2 and position <= $3
returning 1`,
    },
    [accountUuid, name, place.position, place.mark],
  );
  return rows.length > 0;
}
