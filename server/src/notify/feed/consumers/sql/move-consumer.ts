import type { Queryable } from '../../../../platform/db/database.ts';
import type { Place } from '../../cursor.ts';

type Move = { accountUuid: string; name: string; place: Place };

/** Returns false if there is no such consumer. */
export async function moveConsumer(db: Queryable, { accountUuid, name, place }: Move): Promise<boolean> {
  const rows = await db.query(
    {
      name: 'consumer_move',
      text: `
update event_consumers
set position = $3, mark = $4
where account_id = $1 and name = $2
returning 1`,
    },
    [accountUuid, name, place.position, place.mark],
  );
  return rows.length > 0;
}
