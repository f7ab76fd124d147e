import type { Database, Queryable } from '../../platform/db/database.ts';
import type { Announcing } from '../../platform/db/signals.ts';
import { lowestUuid } from '../../platform/ids/uuid-range.ts';
import type { TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { cancelTaken } from '../esims/cancel-execution.ts';
import { canTransition } from '../esims/state.ts';
import { countOpen, type ExecutionError, takeUnsentOfAccount } from '../executions/runner.ts';
import { startAgain } from '../executions/start.ts';
import { advanceClosing, type ClosingRow, finishClosing, lockEsimsAfter, lockNextClosing } from './sql.ts';

type Deps = TimeAndIds & Announcing;

/** Also how many terminations of an account are open at once: orders of other accounts wait in the same queue. */
const batchSize = 100;

// Processes trust a revoked key for up to 5 s, and an order that they accept then must not be overlooked.
const lastOrderMs = 10_000;

/**
 * Goes on with the closing of accounts: cancels what has not reached the network, waits for the other orders, then terminates the eSIMs
 * if that was asked. Accounts take turns, a batch each, and each batch commits with the place that it has reached.
 */
export async function continueClosings(db: Database, deps: Deps, stopping?: AbortSignal): Promise<void> {
  let hasMore = true;
  while (hasMore) {
    hasMore = false;
    let after: string | null = lowestUuid;
    while (after !== null && !stopping?.aborted) {
      const from: string = after;
      const step = await db.transaction((tx) => continueNext(tx, deps, from));
      if (step) {
        deps.signals.announce('executions');
        deps.signals.announce('deliveries', step.accountUuid);
      }
      hasMore ||= step?.hasMore ?? false;
      after = step?.accountUuid ?? null;
    }
  }
}

async function continueNext(tx: Queryable, deps: Deps, after: string) {
  const closing = await lockNextClosing(tx, after);
  if (!closing) return null;
  const hasMore = await (closing.after_id === null ? endOrders : terminateEsims)(tx, deps, closing);
  return { accountUuid: closing.account_id, hasMore };
}

const canceled: ExecutionError = {
  code: 'canceled',
  message: 'The operator closed the account before it reached the network, so nothing was changed there.',
  retryable: false,
};

/** Returns whether there is more to do at once. */
async function endOrders(tx: Queryable, deps: Deps, closing: ClosingRow): Promise<boolean> {
  const { account_id: accountUuid, closed_at: closedAt } = closing;
  const taken = await takeUnsentOfAccount(tx, accountUuid, batchSize);
  await cancelTaken(tx, deps, taken, canceled);
  if (taken.length === batchSize) return true;
  if (deps.clock.nowMs() - closedAt.getTime() < lastOrderMs) return false;
  if ((await countOpen(tx, accountUuid, 1)) > 0) return false;
  if (closing.terminate_esims)
    await advanceClosing(tx, accountUuid, { afterUuid: lowestUuid, terminations: 0 });
  else await finishClosing(tx, accountUuid, new Date(deps.clock.nowMs()));
  return closing.terminate_esims;
}

/** No other change of the eSIMs is open: the orders have ended, and the account has no key. */
async function terminateEsims(tx: Queryable, deps: Deps, closing: ClosingRow): Promise<boolean> {
  const { account_id: accountUuid, after_id: afterUuid } = closing;
  const room = batchSize - (await countOpen(tx, accountUuid, batchSize));
  if (room === 0) return false;
  const esims = await lockEsimsAfter(tx, accountUuid, afterUuid as string, room);
  const last = esims.at(-1);
  if (!last) {
    if (room === batchSize) await finishClosing(tx, accountUuid, new Date(deps.clock.nowMs()));
    return false;
  }
  const living = esims.filter(({ status }) => canTransition('terminate', status));
  for (const { iccid, product_id: productId } of living) {
    await startAgain(deps, tx, { accountUuid, type: 'esim.terminate', productId, iccid, input: {} });
  }
  await advanceClosing(tx, accountUuid, { afterUuid: last.id, terminations: living.length });
  return true;
}
