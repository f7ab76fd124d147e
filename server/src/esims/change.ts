import { type EsimStatus, esimStatuses } from '@simplane/contract';
import { AppError } from '../app-error.ts';
import type { WriteContext } from '../context.ts';
import { refuseWhileChanging } from '../executions/refuse-while-changing.ts';
import { announce, startExecution } from '../executions/start.ts';
import type { Outcome } from '../idempotency/outcome.ts';
import { runOnce } from '../idempotency/run-once.ts';
import { holdEsim } from './hold.ts';
import { mayHappen, sourcesOf } from './state.ts';

type Input = { params: { iccid: string } };
type Change = 'suspend' | 'resume' | 'terminate';

export const suspendEsim = (ctx: WriteContext, input: Input) => startChange(ctx, input, 'suspend');
export const resumeEsim = (ctx: WriteContext, input: Input) => startChange(ctx, input, 'resume');
export const terminateEsim = (ctx: WriteContext, input: Input) => startChange(ctx, input, 'terminate');

/** Accepts the order to change an eSIM, when its status allows it now; the worker checks again when it is done. */
async function startChange(ctx: WriteContext, { params }: Input, change: Change): Promise<Outcome> {
  const outcome = await runOnce(ctx, async (tx) => {
    const esim = await holdEsim(tx, ctx.account.uuid, params.iccid);
    if (change !== 'terminate' && !ctx.hasCore) throw coreNotConnected(change);
    if (!mayHappen(change, esim.status)) throw conflict(change, esim.status);
    await refuseWhileChanging(tx, esim.iccid);
    return startExecution(ctx, tx, {
      type: `esim.${change}`,
      iccid: esim.iccid,
      productId: esim.product_id,
      input: {},
    });
  });
  return announce(ctx, outcome);
}

function coreNotConnected(change: Change): AppError {
  return new AppError(
    'core_not_connected',
    `Nothing can ${change} an eSIM here: this deployment is not connected to the operator’s core network; the operator sets SIMPLANE_CORE_URL.`,
  );
}

function conflict(change: Change, status: EsimStatus): AppError {
  const allowed = esimStatuses.filter((known) => sourcesOf(change).includes(known)).join(', ');
  return new AppError(
    'state_conflict',
    `The eSIM is ${status}: ${change} is possible when it is ${allowed}.`,
  );
}
