import { idPrefixes } from '@simplane/contract';
import { newEvent } from '../../notify/events/new-event.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import type { NewUuid } from '../../platform/ids/uuid-v7.ts';
import { type ClaimedExecution, type End, failRow, finishRow } from './sql/queue.ts';

/**
 * Ends an execution in the transaction of its changes. If false, another worker has claimed it, and nothing may be written. A failure
 * writes its event in the same statement; the order of an eSIM that fails has an event of its own (`end-failed-order.ts`).
 */
export function finish(
  tx: Queryable,
  deps: { newUuid: NewUuid },
  execution: ClaimedExecution,
  end: End,
): Promise<boolean> {
  const { account_id: accountUuid, id, type, iccid, product_id, input } = execution;
  const { error } = end;
  if (error === null) return finishRow(tx, execution, end);
  const event = newEvent(deps, {
    accountUuid,
    type: 'execution.failed',
    data: {
      iccid,
      execution_id: idOfUuid(idPrefixes.execution, id),
      execution_type: type,
      product_id,
      error: { code: error.code, message: error.message },
    },
    reference: (input as { reference?: string }).reference ?? null,
  });
  return failRow(tx, execution, end, event);
}
