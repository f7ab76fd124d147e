import type { Queryable } from '../../../db/database.ts';
import { type AboutEndpoint, bodyAboutEndpoint } from '../../event-about-endpoint.ts';
import type { LockedRecovery } from './lock-recovery.ts';

/** The next events before the position, newest first. */
export function readEvents(
  tx: Queryable,
  { account_id, position, from_event }: LockedRecovery,
  count: number,
): Promise<({ id: string; type: string } & AboutEndpoint)[]> {
  return tx.query(
    {
      name: 'recovery_read_events',
      text: `
select id, type, ${bodyAboutEndpoint}
from events
where account_id = $1 and id < $2 and id >= $3
order by id desc
limit $4`,
    },
    [account_id, position, from_event, count],
  );
}
