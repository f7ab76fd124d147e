import { defaultThresholds, idPrefixes, type Price } from '@simplane/contract';
import { priceOf } from '../../accounts/products/present.ts';
import { requireProduct } from '../../accounts/products/require-active.ts';
import type { CoreMode } from '../../network/core-mode.ts';
import { emit } from '../../notify/events/emit.ts';
import { newEvent } from '../../notify/events/new-event.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid, uuidText } from '../../platform/ids/uuid.ts';
import type { TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { lockOwnEsim } from '../esims/lock.ts';
import { topUpStatuses } from '../esims/state.ts';
import {
  type Deps,
  type ExecutionError,
  errorOf,
  type HeldExecution,
  type Runner,
} from '../executions/runner.ts';
import { refreshService } from '../service/write.ts';
import { type BundledEsim, insertBundle, type SoldProduct } from './sql.ts';
import { promoteBundle } from './write.ts';

/** Asks the network first only if it wants to be asked: Simplane counts usage, so most have no part in a top-up. */
export const topUpRunner: Runner = {
  async run(deps, execution) {
    const { iccid, product_id: productId } = execution;
    const { topUp } = deps.network;
    if (topUp) {
      const reply = await execution.call('top_up', (call) =>
        topUp({ ...call, iccid: iccid as string, productId }),
      );
      if (reply.kind === 'failed') return { kind: 'failed', reason: reply.reason };
      if (reply.kind === 'refused') {
        await execution.finish(deps.db, errorOf(reply.reason));
        return { kind: 'done' };
      }
    }
    await runTopUp(deps, execution);
    return { kind: 'done' };
  },
  async fail(deps, execution, error) {
    await execution.finish(deps.db, error);
  },
};

function runTopUp(deps: Deps, execution: HeldExecution): Promise<void> {
  return deps.db.transaction(async (tx) => {
    const esim = await lockOwnEsim(tx, execution.account_id, execution.iccid as string);
    const isPossible = topUpStatuses.includes(esim.status);
    const isOurs = await execution.finish(tx, isPossible ? null : noLongerPossible(esim.status));
    if (!isOurs || !isPossible) return;
    const product = await requireProduct(tx, execution.product_id);
    const {
      thresholds,
      reference,
      price = priceOf(product),
    } = execution.input as { thresholds: number[]; reference?: string; price?: Price };
    const executionId = idOfUuid(idPrefixes.execution, execution.id);
    await settleTopUp(tx, { esim, product, price, thresholds, reference }, { ...deps, executionId });
  });
}

function noLongerPossible(status: string): ExecutionError {
  return {
    code: 'state_conflict',
    message: `The eSIM was ${status} when the order ran, so it could no longer be topped up.`,
    retryable: false,
  };
}

type NewBundle = {
  accountUuid: string;
  iccid: string;
  product: SoldProduct;
  price: Price | null;
  /** Percentages; defaults apply if omitted. A bundle with unlimited data has none. */
  thresholds?: readonly number[] | null | undefined;
  reference?: string | undefined;
};

type TopUp = { esim: BundledEsim } & Omit<NewBundle, 'accountUuid' | 'iccid'>;

/** Adds a bundle, and activates it if the eSIM is active where no active bundle covers it. The caller holds the eSIM's lock. */
export async function settleTopUp(
  tx: Queryable,
  { esim, ...bought }: TopUp,
  deps: TimeAndIds & { core: CoreMode; executionId: string },
): Promise<void> {
  const { account_id: accountUuid, iccid } = esim;
  const uuid = await storeBundle(tx, { accountUuid, iccid, ...bought }, deps);
  const data = {
    iccid,
    bundle_id: idOfUuid(idPrefixes.bundle, uuid),
    product_id: bought.product.id,
    execution_id: deps.executionId,
  };
  const { reference = null } = bought;
  await emit(tx, [newEvent(deps, { accountUuid, type: 'bundle.added', data, reference })]);
  await promoteBundle(tx, esim, new Date(deps.clock.nowMs()), deps);
  await refreshService(tx, esim, deps);
}

/** Adds a bundle at the end of its eSIM's queue. Returns its uuid. */
export async function storeBundle(
  tx: Queryable,
  { thresholds, reference, ...bundle }: NewBundle,
  { clock, newUuid }: TimeAndIds,
): Promise<string> {
  const uuid = uuidText(newUuid());
  await insertBundle(tx, {
    ...bundle,
    uuid,
    thresholds: ascending(thresholds ?? defaultThresholds),
    reference: reference ?? null,
    at: new Date(clock.nowMs()),
  });
  return uuid;
}

function ascending(percents: readonly number[]): number[] {
  return [...new Set(percents)].sort((a, b) => a - b);
}
