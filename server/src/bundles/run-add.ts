import { idPrefixes } from '@simplane/contract';
import { holdEsim } from '../esims/hold.ts';
import { canTakeBundles } from '../esims/state.ts';
import type { ExecutionError, HeldExecution, Means, Runner } from '../executions/worker.ts';
import { idOfUuid } from '../ids/uuid.ts';
import { requireProduct } from '../products/require-active.ts';
import { settleBundleAdd } from './settle-add.ts';

/** A top-up. The network need not know: what a bundle allows is counted here. */
export const bundleAddRunner: Runner = {
  async run(means, execution) {
    await add(means, execution);
    return { kind: 'done' };
  },
  async giveUp(means, execution, error) {
    await execution.finish(means.db, error);
  },
};

function add(means: Means, execution: HeldExecution): Promise<void> {
  return means.db.transaction(async (tx) => {
    const esim = await holdEsim(tx, execution.account_id, execution.iccid as string);
    const isPossible = canTakeBundles.includes(esim.status);
    const isOurs = await execution.finish(tx, isPossible ? null : overtaken(esim.status));
    if (!isOurs || !isPossible) return;
    const product = await requireProduct(tx, execution.product_id);
    const thresholds = execution.input['thresholds'] as number[];
    const executionId = idOfUuid(idPrefixes.execution, execution.id);
    await settleBundleAdd(tx, { esim, product, thresholds }, { ...means, executionId });
  });
}

function overtaken(status: string): ExecutionError {
  return {
    code: 'state_conflict',
    message: `The eSIM was ${status} by then and took no more bundles.`,
    retryable: false,
  };
}
