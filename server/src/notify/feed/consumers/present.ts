import type { EventConsumer } from '@simplane/contract';
import { unixSeconds } from '../../../platform/clock.ts';
import { unixMsOf } from '../../../platform/ids/uuid-range.ts';
import { type CursorOwner, encodePlace } from '../cursor.ts';
import type { ConsumerRow } from './sql.ts';

export function presentConsumer(owner: CursorOwner, row: ConsumerRow): EventConsumer {
  return {
    name: row.name,
    object: 'event_consumer',
    type: row.types,
    cursor: encodePlace(owner, row),
    behind: row.behind,
    oldest_unacknowledged_at:
      row.next_event_id === null ? null : Math.floor(unixMsOf(row.next_event_id) / 1_000),
    created: unixSeconds(row.created_at),
  };
}
