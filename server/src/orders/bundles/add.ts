import { defaultThresholds, type InputOf, type Operations } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { requireActiveProduct } from '../../accounts/products/require-active.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { requireEsim } from '../esims/get.ts';
import { topUpStatuses } from '../esims/state.ts';
import { startExecution } from '../executions/start.ts';

/** Accepts an order for another bundle on an eSIM. */
export async function addBundle(
  tx: Queryable,
  ctx: Context,
  { params, body }: InputOf<Operations['addBundle']>,
) {
  const esim = await requireTopUpable(tx, ctx.account.uuid, params.iccid);
  const product = await requireActiveProduct(tx, body.product_id);
  const { reference = null } = body;
  const thresholds = [...(body.thresholds ?? defaultThresholds)].sort((a, b) => a - b);
  return startExecution(ctx, tx, {
    type: 'bundle.add',
    iccid: esim.iccid,
    productId: product.id,
    reference,
    input: { thresholds, ...(reference !== null && { reference }) },
  });
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
