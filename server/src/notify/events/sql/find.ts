import type { Queryable } from '../../../platform/db/database.ts';
import type { EventRow } from './event-row.ts';

export async function findEvent(db: Queryable, accountUuid: string, uuid: string): Promise<EventRow | null> {
  const [row] = await db.query<EventRow>(
    {
      name: 'event_find',
      text: `
select id, body
from events
where account_id = $1 and id = $2`,
    },
    [accountUuid, uuid],
  );
  return row ?? null;
}
