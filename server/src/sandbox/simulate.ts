import type { InputOf, Operations, SimulatedAction } from '@simplane/contract';
import { AppError } from '../app-error.ts';
import { expireActiveBundle } from '../bundles/expire-active.ts';
import type { WriteContext } from '../context.ts';
import type { Queryable } from '../db/database.ts';
import { holdEsim } from '../esims/hold.ts';
import { observe } from '../esims/observe.ts';
import { presentEsim } from '../esims/present.ts';
import type { Outcome } from '../idempotency/outcome.ts';
import { runOnce } from '../idempotency/run-once.ts';
import { uuidText } from '../ids/uuid.ts';
import type { Observation, ObservedState } from '../network/port.ts';
import { refuseWrongParameters } from './parameters.ts';
import { refuseWrongState } from './readiness.ts';

type Body = InputOf<Operations['simulateEsim']>['body'];
type Held = Awaited<ReturnType<typeof holdEsim>>;

/** Lets a device or a network do something, by the path that a live network's reports take. */
export async function simulateEsim(
  ctx: WriteContext,
  { params, body }: InputOf<Operations['simulateEsim']>,
): Promise<Outcome> {
  if (ctx.mode !== 'sandbox') {
    throw new AppError('sandbox_only', 'Only a sandbox can simulate a network; this is a live deployment.');
  }
  const outcome = await runOnce(ctx, async (tx) => {
    refuseWrongParameters(body);
    const esim = await holdEsim(tx, ctx.account.uuid, params.iccid);
    refuseWrongState(body.action, esim);
    return ctx.render(presentEsim(await act(ctx, tx, esim, body)));
  });
  ctx.signals.announce('deliveries', ctx.account.uuid);
  return outcome;
}

async function act(ctx: WriteContext, tx: Queryable, esim: Held, body: Body): Promise<Held> {
  const at = new Date(body.at === undefined ? ctx.clock.nowMs() : body.at * 1000);
  if (body.action !== 'expire_bundle') {
    return (
      (await observe(tx, observationOf(ctx, esim.iccid, at, { ...body, action: body.action }), ctx)) ?? esim
    );
  }
  if (await expireActiveBundle(tx, esim, at, ctx)) return esim;
  throw new AppError(
    'state_conflict',
    `The eSIM is ${esim.status} and has no active bundle that could expire.`,
  );
}

type Observed = Exclude<SimulatedAction, 'expire_bundle'>;

const stateAfter: Record<Exclude<Observed, 'attach' | 'use_data'>, ObservedState> = {
  download: 'downloaded',
  install: 'installed',
  enable: 'enabled',
  disable: 'disabled',
  delete: 'deleted',
};

function observationOf(
  { newUuid }: WriteContext,
  iccid: string,
  at: Date,
  { action, country = '', bytes = 0, record_id }: Body & { action: Observed },
): Observation {
  switch (action) {
    case 'attach':
      return { iccid, at, kind: 'attach', country };
    case 'use_data':
      return { iccid, at, kind: 'usage', recordId: record_id ?? uuidText(newUuid()), bytes };
    default:
      return { iccid, at, kind: 'profile', state: stateAfter[action] };
  }
}
