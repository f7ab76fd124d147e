import type { InputFor, SimulatedAction } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { beingMoved } from '../../accounts/moves/require-here.ts';
import type { Observation, ObservedState } from '../../network/port.ts';
import { AppError, conflict, invalid } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import { expireActiveBundle } from '../bundles/expire.ts';
import { activeOf, nextQueuedOf, noChange } from '../bundles/plan.ts';
import { bundlesByEsim } from '../bundles/write.ts';
import { requireEsim } from '../esims/get.ts';
import { type LockedEsim, lockOwnEsim } from '../esims/lock.ts';
import { presentEsim } from '../esims/present.ts';
import { observe } from '../observations/observe.ts';
import { isTooOld, observedAt, refuseFuture } from '../observations/observed-at.ts';
import { takeUsage } from '../observations/take-usage.ts';
import { requireMatchingParameters, requireUsableEsim } from './check-simulation.ts';

type Body = InputFor<'simulateEsim'>['body'];

/** Simulates an action of a device or a network, through the same functions as reports of a live network. */
export async function simulateEsim(tx: Queryable, ctx: Context, { params, body }: InputFor<'simulateEsim'>) {
  if (ctx.mode !== 'sandbox') {
    throw new AppError(
      'sandbox_only',
      'Simulation is for the sandbox only; this is a live deployment. Use a sandbox with a test key.',
    );
  }
  requireMatchingParameters(body);
  if (body.at !== undefined) refuseFuture(body.at, 'at', ctx.clock);
  if (body.action === 'use_data' || body.action === 'deplete_bundle') refuseTooOld(ctx, body.at);
  const esim = await lockOwnEsim(tx, ctx.account.uuid, params.iccid);
  requireUsableEsim(body.action, esim);
  return {
    body: presentEsim(await act(ctx, tx, esim, body)),
    changes: { action: body.action },
    afterCommit: () => ctx.signals.announce('deliveries', ctx.account.uuid),
  };
}

async function act(ctx: Context, tx: Queryable, esim: LockedEsim, body: Body): Promise<LockedEsim> {
  const { action } = body;
  const nowMs = ctx.clock.nowMs();
  const at = body.at === undefined ? new Date(nowMs) : observedAt(body.at, nowMs);
  switch (action) {
    case 'expire_bundle':
      if (await expireActiveBundle(tx, esim, at, ctx)) return esim;
      throw conflict(
        `The eSIM is ${esim.status} and has no active bundle to expire; simulate attach first, or top it up.`,
      );
    case 'use_data':
      return useData(ctx, tx, esim, { ...body, at });
    case 'deplete_bundle': {
      const bytes = await findRoom(tx, esim, body.country ?? esim.country);
      if (bytes !== null) return useData(ctx, tx, esim, { ...body, bytes, at });
      throw conflict(
        'No bundle with limited data covers this usage, so none can be used up; top the eSIM up, or simulate use_data.',
      );
    }
    default: {
      const seen = await observe(tx, observationOf(esim.iccid, at, { ...body, action }), ctx);
      if (typeof seen === 'string') throw beingMoved('The eSIM');
      return seen;
    }
  }
}

async function useData(
  ctx: Context,
  tx: Queryable,
  { account_id: ofAccount, iccid }: LockedEsim,
  { record_id = uuidText(ctx.newUuid()), bytes = 0, country, at }: Omit<Body, 'at'> & { at: Date },
): Promise<LockedEsim> {
  // Rounded up, so that it counts as now and not as before an attach in the same second.
  const seconds = Math.ceil(at.getTime() / 1000);
  const record = { record_id, iccid, bytes, at: seconds, ...(country !== undefined && { country }) };
  await takeUsage(tx, [record], { ofAccount }, ctx);
  return requireEsim(tx, ofAccount, iccid);
}

/** What is left on the bundle that usage in this country would fill; null if there is none or it is unlimited. */
async function findRoom(tx: Queryable, esim: LockedEsim, country: string | null): Promise<number | null> {
  const change = noChange((await bundlesByEsim(tx, [esim])).get(esim.iccid) ?? []);
  const bundle = activeOf(change, country) ?? nextQueuedOf(change, country);
  if (!bundle || bundle.data_bytes === null) return null;
  return bundle.data_bytes - bundle.used_bytes;
}

function refuseTooOld(ctx: Context, at: number | undefined): void {
  if (at === undefined || !isTooOld(at, ctx)) return;
  const days = ctx.usageMaxAgeMs / 86_400_000;
  throw invalid(
    'at',
    `at is too long ago: usage is counted up to ${days} days later, or as SIMPLANE_USAGE_MAX_AGE says.`,
  );
}

type Observed = Exclude<SimulatedAction, 'expire_bundle' | 'use_data' | 'deplete_bundle'>;

const stateAfter: Record<Exclude<Observed, 'attach'>, Exclude<ObservedState, 'error'>> = {
  download: 'downloaded',
  install: 'installed',
  enable: 'enabled',
  disable: 'disabled',
  delete: 'deleted',
};

function observationOf(
  iccid: string,
  at: Date,
  { action, country = '' }: Body & { action: Observed },
): Observation {
  if (action === 'attach') return { iccid, at, kind: 'attach', country };
  return { iccid, at, kind: 'profile', state: stateAfter[action] };
}
