import { defaultThresholds, type InputOf, type Operations } from '@simplane/contract';
import { AppError } from '../app-error.ts';
import type { WriteContext } from '../context.ts';
import type { Queryable } from '../db/database.ts';
import { requireEsim } from '../esims/get.ts';
import { topUpStatuses } from '../esims/state.ts';
import { announce, startExecution } from '../executions/start.ts';
import type { Outcome } from '../idempotency/outcome.ts';
import { runOnce } from '../idempotency/run-once.ts';
import { requireActiveProduct } from '../products/require-active.ts';

/** Accepts an order for another bundle on an eSIM. */
export async function topUp(
  ctx: WriteContext,
  { params, body }: InputOf<Operations['addBundle']>,
): Promise<Outcome> {
  const outcome = await runOnce(ctx, async (tx) => {
    const esim = await requireTopUpable(tx, ctx.account.uuid, params.iccid);
    const product = await requireActiveProduct(tx, body.product_id);
    const thresholds = [...(body.thresholds ?? defaultThresholds)].sort((a, b) => a - b);
    return startExecution(ctx, tx, {
      type: 'bundle.add',
      iccid: esim.iccid,
      productId: product.id,
      input: { thresholds },
    });
  });
  return announce(ctx, outcome);
}

/** Finds an eSIM of the account that can be topped up. */
export async function requireTopUpable(tx: Queryable, accountUuid: string, iccid: string) {
  const esim = await requireEsim(tx, accountUuid, iccid);
  if (topUpStatuses.includes(esim.status)) return esim;
  const allowed = topUpStatuses.join(', ');
  throw new AppError(
    'state_conflict',
    `The eSIM is ${esim.status}. To top it up, its status must be one of: ${allowed}.`,
  );
}
