import type { Queryable } from '../../../../platform/db/database.ts';
import { iccidOfBody } from '../../../events/iccid-of-body.ts';
import { type AboutEndpoint, bodyAboutEndpoint } from '../../event-about-endpoint.ts';
import type { LockedRecovery } from './lock-recovery.ts';

export type FoundEvent = AboutEndpoint & {
  id: string;
  type: string;
  /** For an ordered endpoint. */
  iccid: string | null;
};

type EventRange = Pick<LockedRecovery, 'account_id' | 'position' | 'from_event' | 'ordering'>;

/** The next events before the position, newest first. */
export function readEvents(
  db: Queryable,
  { account_id, position, from_event, ordering }: EventRange,
  count: number,
): Promise<FoundEvent[]> {
  return db.query(
    {
      name: 'recovery_read_events',
      text: `
select id, type, ${bodyAboutEndpoint}, case when $5 = 'esim' then ${iccidOfBody('body')} end as iccid
from events
where account_id = $1 and id < $2 and id >= $3
order by id desc
limit $4`,
    },
    [account_id, position, from_event, count, ordering],
  );
}
