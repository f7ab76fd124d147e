import { type EsimStatus, esimStatuses } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { AppError, conflict } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { requireNoOpenChange } from '../executions/limit-open.ts';
import { startExecution } from '../executions/start.ts';
import { statusWanted } from '../service/write.ts';
import { type LockedEsim, lockOwnEsim } from './lock.ts';
import { canTransition, sourcesOf } from './state.ts';

type Input = { params: { iccid: string } };
export type Change = 'suspend' | 'resume' | 'terminate';

export const suspendEsim = starting('suspend');
export const resumeEsim = starting('resume');
export const terminateEsim = starting('terminate');

/** Accepts a change if the eSIM's status allows it now. The worker checks again before it writes the change. */
function starting(change: Change) {
  return async (tx: Queryable, ctx: Context, { params }: Input) => {
    const esim = await lockOwnEsim(tx, ctx.account.uuid, params.iccid);
    if (change !== 'terminate' && ctx.core === 'none') throw coreNotConnected(change);
    await requireChangeable(tx, esim, change);
    return startExecution(ctx, tx, {
      type: `esim.${change}`,
      iccid: esim.iccid,
      productId: esim.product_id,
      input: {},
    });
  };
}

/** Throws unless the locked eSIM can be changed so now. A change that waits for the core is no hindrance: the new one replaces it. */
export async function requireChangeable(tx: Queryable, esim: LockedEsim, change: Change): Promise<void> {
  const { pending_change: pending } = esim;
  // Like the one that waits, or not possible after it: then it does not replace it.
  const replaces = pending !== null && canTransition(change, statusWanted(esim));
  if (!replaces && !canTransition(change, esim.status)) throw notFrom(esim.status, change);
  await requireNoOpenChange(tx, esim, replaces ? pending.execution_id : null);
}

function coreNotConnected(change: Change): AppError {
  return new AppError(
    'core_not_connected',
    `This deployment cannot ${change} an eSIM: it is not connected to the operator’s core network. Ask the operator to connect it, then send the same request again.`,
  );
}

function notFrom(status: EsimStatus, change: Change): AppError {
  const allowed = esimStatuses.filter((known) => sourcesOf(change).includes(known)).join(', ');
  return conflict(`The eSIM is ${status}. To ${change} it, its status must be one of: ${allowed}.`);
}
