import type { Queryable } from '../../../db/database.ts';

export async function findEventType(
  db: Queryable,
  accountUuid: string,
  eventUuid: string,
): Promise<string | null> {
  const [row] = await db.query<{ type: string }>(
    {
      name: 'delivery_find_event',
      text: `
select type
from events
where account_id = $1 and id = $2`,
    },
    [accountUuid, eventUuid],
  );
  return row?.type ?? null;
}
