import { defaultThresholds, type InputFor } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { priceOf } from '../../accounts/products/present.ts';
import { requireActiveProduct, requireProduct } from '../../accounts/products/require-active.ts';
import { conflict, invalid } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { wouldAccept } from '../esims/dry-run.ts';
import { requireEsim } from '../esims/get.ts';
import { topUpStatuses } from '../esims/state.ts';
import { requireRoom } from '../executions/limit-open.ts';
import { startExecution } from '../executions/start.ts';

/** Accepts an order for another bundle on an eSIM. */
export async function addBundle(tx: Queryable, ctx: Context, { params, body }: InputFor<'addBundle'>) {
  const esim = await requireTopUpable(tx, ctx.account.uuid, params.iccid);
  const product = await requireActiveProduct(tx, body.product_id);
  if (!body.any_region) await requireSharedCountry(tx, esim, product);
  if (body.dry_run) {
    await requireRoom(ctx, tx, { isDryRun: true });
    const products = [{ product_id: product.id, quantity: 1, price: priceOf(product) }];
    return wouldAccept({ type: 'bundle.add', iccid: esim.iccid, total: 1, products, in_stock: null });
  }
  const { reference = null, thresholds = [...defaultThresholds] } = body;
  return startExecution(ctx, tx, {
    type: 'bundle.add',
    iccid: esim.iccid,
    productId: product.id,
    reference,
    input: { thresholds, price: priceOf(product), ...(reference !== null && { reference }) },
  });
}

/** Finds an eSIM of the account that can be topped up. */
export async function requireTopUpable(tx: Queryable, accountUuid: string, iccid: string) {
  const esim = await requireEsim(tx, accountUuid, iccid);
  if (topUpStatuses.includes(esim.status)) return esim;
  const allowed = topUpStatuses.join(', ');
  throw conflict(`The eSIM is ${esim.status}. To top it up, its status must be one of: ${allowed}.`);
}

/** A bundle that covers no country of the eSIM's own product is more likely a mistake. */
async function requireSharedCountry(
  tx: Queryable,
  esim: { product_id: string },
  { id, countries }: { id: string; countries: string[] },
): Promise<void> {
  const own = await requireProduct(tx, esim.product_id);
  if (own.countries.some((country) => countries.includes(country))) return;
  throw invalid(
    'product_id',
    `${id} covers no country of ${own.id}, the eSIM’s own product. If the eSIM’s network works there, send the request again with "any_region": true.`,
  );
}
