import type { Queryable } from '../../../platform/db/database.ts';
import { countByEvent } from './sql/deliveries.ts';

export type DeliveryCounts = { pending: number; succeeded: number; failed: number };

export async function countDeliveries(
  db: Queryable,
  accountUuid: string,
  eventUuids: string[],
): Promise<Map<string, DeliveryCounts>> {
  if (eventUuids.length === 0) return new Map();
  const rows = await countByEvent(db, accountUuid, eventUuids);
  return new Map(rows.map(({ eventUuid, ...counts }) => [eventUuid, counts]));
}
