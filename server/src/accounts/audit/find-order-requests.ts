import type { Queryable } from '../../platform/db/database.ts';
import { highestUuidAt, lowestUuidAt } from '../../platform/ids/uuid-range.ts';
import { listOrderRequests } from './sql.ts';

type Esim = { account_id: string; iccid: string };
type Ordered = { id: string; createdAt: Date };

// An entry is written in the transaction of its order, some milliseconds after the order's time was read.
const marginMs = 60_000;

/** The ids of the requests that ordered these executions of an eSIM, by the executions' ids, as far as they are known. */
export async function findOrderRequests(
  db: Queryable,
  { account_id: accountUuid, iccid }: Esim,
  executions: Ordered[],
): Promise<Map<string, string>> {
  if (executions.length === 0) return new Map();
  const times = executions.map(({ createdAt }) => createdAt.getTime());
  const rows = await listOrderRequests(db, {
    accountUuid,
    iccid,
    executionIds: executions.map(({ id }) => id),
    fromUuid: lowestUuidAt(Math.min(...times) - marginMs),
    untilUuid: highestUuidAt(Math.max(...times) + marginMs),
  });
  return new Map(rows.map(({ execution_id: id, request_id: requestId }) => [id, requestId]));
}
