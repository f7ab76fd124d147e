import type { Queryable } from '../../../../platform/db/database.ts';
import { type AboutEndpoint, bodyAboutEndpoint } from '../../event-about-endpoint.ts';

export async function findEvent(
  db: Queryable,
  accountUuid: string,
  eventUuid: string,
): Promise<({ type: string } & AboutEndpoint) | null> {
  const [row] = await db.query<{ type: string } & AboutEndpoint>(
    {
      name: 'delivery_find_event',
      text: `
select type, ${bodyAboutEndpoint}
from events
where account_id = $1 and id = $2`,
    },
    [accountUuid, eventUuid],
  );
  return row ?? null;
}
