import { idPrefixes } from '@simplane/contract';
import { emit } from '../../notify/events/emit.ts';
import { type NewEvent, newEvent } from '../../notify/events/new-event.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import type { NewUuid, TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { notedError } from '../executions/last-error.ts';
import type { ClaimedExecution, ExecutionError } from '../executions/runner.ts';
import type { IccidSource } from './iccid.ts';
import { detachIccid, failOrderRow } from './sql/orders.ts';

/** What becomes of an ICCID of ours that the network surely has not used. */
export type Returns = { giveBack: NonNullable<IccidSource['giveBack']>; state: 'free' | 'suspect' };

/**
 * Ends the order and its eSIM as failed, and writes the event, in the caller's transaction. False if the claim was lost: then
 * nothing was written.
 */
export async function endFailedOrder(
  tx: Queryable,
  deps: TimeAndIds,
  execution: ClaimedExecution,
  error: ExecutionError,
  returns?: Returns,
): Promise<boolean> {
  const returned = returns ? await detachIccid(tx, execution) : null;
  if (returns && returned !== null) await returns.giveBack(tx, returned, returns.state);
  const iccid = returned === null ? execution.iccid : null;
  const at = new Date(deps.clock.nowMs());
  const isOurs = await failOrderRow(tx, execution, { error, at, noted: notedError(execution.progress) });
  if (!isOurs) return false;
  await emit(tx, [failureEvent(deps, { ...execution, iccid }, error)]);
  return true;
}

/** The event of an order that failed. */
export function failureEvent(
  deps: { newUuid: NewUuid },
  execution: ClaimedExecution,
  error: ExecutionError,
): NewEvent {
  const { account_id: accountUuid, iccid } = execution;
  const data = {
    ...(iccid !== null && { iccid }),
    ...orderIds(execution),
    error: { code: error.code, message: error.message },
  };
  const reference = referenceOf(execution);
  return newEvent(deps, { accountUuid, type: 'esim.provisioning_failed', data, reference });
}

/** The account's own name for the order. */
export function referenceOf({ input }: Pick<ClaimedExecution, 'input'>): string | null {
  return (input as { reference?: string }).reference ?? null;
}

/** The ids in an order's events besides the ICCID. */
export function orderIds({ id, product_id, input }: Pick<ClaimedExecution, 'id' | 'product_id' | 'input'>) {
  const { batch_id: batchUuid } = input as { batch_id?: string };
  return {
    execution_id: idOfUuid(idPrefixes.execution, id),
    product_id,
    ...(batchUuid !== undefined && { batch_id: idOfUuid(idPrefixes.batch, batchUuid) }),
  };
}
