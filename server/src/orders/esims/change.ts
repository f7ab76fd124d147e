import { type EsimStatus, esimStatuses } from '@simplane/contract';
import type { WriteContext } from '../../accounts/context.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Outcome } from '../../platform/idempotency/outcome.ts';
import { runOnce } from '../../platform/idempotency/run-once.ts';
import { requireNoOpenChange } from '../executions/require-no-open-change.ts';
import { announce, startExecution } from '../executions/start.ts';
import { type LockedEsim, lockOwnEsim } from './lock.ts';
import { canTransition, sourcesOf } from './state.ts';

type Input = { params: { iccid: string } };
export type Change = 'suspend' | 'resume' | 'terminate';

export const suspendEsim = (ctx: WriteContext, input: Input) => startChange(ctx, input, 'suspend');
export const resumeEsim = (ctx: WriteContext, input: Input) => startChange(ctx, input, 'resume');
export const terminateEsim = (ctx: WriteContext, input: Input) => startChange(ctx, input, 'terminate');

/** Accepts a change if the eSIM's status allows it now. The worker checks again before it writes the change. */
async function startChange(ctx: WriteContext, { params }: Input, change: Change): Promise<Outcome> {
  const outcome = await runOnce(ctx, async (tx) => {
    const esim = await lockOwnEsim(tx, ctx.account.uuid, params.iccid);
    if (change !== 'terminate' && !ctx.hasCore) throw coreNotConnected(change);
    await requireChangeable(tx, esim, change);
    return startExecution(ctx, tx, {
      type: `esim.${change}`,
      iccid: esim.iccid,
      productId: esim.product_id,
      input: {},
    });
  });
  return announce(ctx, outcome);
}

/** Throws unless the locked eSIM can be changed so now. */
export async function requireChangeable(tx: Queryable, esim: LockedEsim, change: Change): Promise<void> {
  if (!canTransition(change, esim.status)) throw conflict(change, esim.status);
  await requireNoOpenChange(tx, esim);
}

function coreNotConnected(change: Change): AppError {
  return new AppError(
    'core_not_connected',
    `This deployment cannot ${change} an eSIM: it is not connected to the operator’s core network. Ask the operator to connect it, then send the same request again.`,
  );
}

function conflict(change: Change, status: EsimStatus): AppError {
  const allowed = esimStatuses.filter((known) => sourcesOf(change).includes(known)).join(', ');
  return new AppError(
    'state_conflict',
    `The eSIM is ${status}. To ${change} it, its status must be one of: ${allowed}.`,
  );
}
