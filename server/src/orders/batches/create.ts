import { encodeId, type InputFor, idPrefixes, isEid, maxOpenBatches } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { lockAccount } from '../../accounts/lock-account.ts';
import { priceOf } from '../../accounts/products/present.ts';
import {
  listProductsByIds,
  type ProductRow,
  productInactive,
  productMissing,
} from '../../accounts/products/require-active.ts';
import { AppError, invalid } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import { orderInput, wrongEid } from '../esims/create.ts';
import { wouldProvision } from '../esims/dry-run.ts';
import { requireRoom } from '../executions/limit-open.ts';
import { presentBatch } from './present.ts';
import { countUnfinished, insertBatch } from './sql.ts';

type Input = InputFor<'createBatch'>;
type Order = NonNullable<Input['body']['orders']>[number];

/** Accepts all orders of a batch, or none. */
export async function createBatch(tx: Queryable, ctx: Context, { body }: Input) {
  const { orders, paramOf } = ordersOf(body);
  const isDryRun = body.dry_run === true;
  for (const [at, { eid }] of orders.entries()) {
    if (eid != null && !isEid(eid)) throw wrongEid(paramOf(at, 'eid'));
  }
  await requireFewUnfinished(tx, ctx, isDryRun);
  await requireRoom(ctx, tx, { count: orders.length, isDryRun });
  const products = await requireProducts(tx, orders, paramOf);
  if (isDryRun) return wouldProvision(tx, products);
  const uuid = ctx.newUuid();
  const batch = {
    id: uuidText(uuid),
    product_id: products.length === 1 ? (products[0]?.product.id as string) : null,
    total: orders.length,
    created_at: new Date(ctx.clock.nowMs()),
  };
  const prices = new Map(products.map(({ product }) => [product.id, priceOf(product)]));
  const rows = orders.map(({ product_id: productId, ...order }) => ({
    uuid: uuidText(ctx.newUuid()),
    productId,
    input: { ...orderInput(order), price: prices.get(productId) },
  }));
  await insertBatch(tx, ctx.account.uuid, batch, rows);
  const id = encodeId(idPrefixes.batch, uuid);
  const counts = { succeeded: 0, failed: 0, canceled: 0, open: orders.length };
  return {
    body: presentBatch({ ...batch, ...counts, finished_at: null }),
    location: `/v1/batches/${id}`,
    changes: { total: orders.length, product_id: batch.product_id },
    afterCommit: () => ctx.signals.announce('executions'),
  };
}

type ParamOf = (at: number, field: 'product_id' | 'eid') => string;

/** The two ways to write a batch. `paramOf` is where an order's field stands in the request. */
function ordersOf(body: Input['body']): { orders: Order[]; paramOf: ParamOf } {
  const { orders, product_id: productId, quantity } = body;
  if (orders) {
    for (const param of ['product_id', 'quantity'] as const)
      if (body[param] !== undefined) throw twoWays(param);
    return { orders, paramOf: (at, field) => `orders[${at}].${field}` };
  }
  if (productId === undefined) throw missing(quantity === undefined ? 'orders' : 'product_id');
  if (quantity === undefined) throw missing('quantity');
  const order = { product_id: productId };
  return { orders: Array.from({ length: quantity }, () => order), paramOf: (_, field) => field };
}

function missing(param: string): AppError {
  const message = `${param} is required: send product_id and quantity, or orders.`;
  return new AppError('parameter_missing', message, { param });
}

function twoWays(param: string): AppError {
  const message = `${param} and orders exclude each other: send product_id and quantity, or orders.`;
  return invalid(param, message);
}

/** Finds each product once, and names the first order whose product cannot be ordered. */
async function requireProducts(
  tx: Queryable,
  orders: readonly Order[],
  paramOf: ParamOf,
): Promise<{ product: ProductRow; quantity: number }[]> {
  const ids = [...new Set(orders.map(({ product_id: id }) => id))];
  const found = new Map((await listProductsByIds(tx, ids)).map((product) => [product.id, product]));
  const ordered = new Map<string, { product: ProductRow; quantity: number }>();
  for (const [at, { product_id: id }] of orders.entries()) {
    const product = found.get(id);
    if (!product) throw productMissing(id, paramOf(at, 'product_id'));
    if (!product.active) throw productInactive(id, paramOf(at, 'product_id'));
    ordered.set(id, { product, quantity: (ordered.get(id)?.quantity ?? 0) + 1 });
  }
  return [...ordered.values()];
}

/** A request of an account without a limit could otherwise put any number of orders before those of the others. */
async function requireFewUnfinished(tx: Queryable, { account }: Context, isDryRun: boolean): Promise<void> {
  if (!isDryRun) await lockAccount(tx, account.uuid);
  if ((await countUnfinished(tx, account.uuid)) < maxOpenBatches) return;
  throw new AppError(
    'batch_limit_reached',
    `The account has ${maxOpenBatches} unfinished batches, which is the limit. Retry when one has finished.`,
    { headers: { 'Retry-After': '1' } },
  );
}
