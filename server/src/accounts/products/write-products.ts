import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { changedFields, recordAudit } from '../audit/record.ts';
import type { Author } from '../context.ts';
import { type CatalogRow, type GivenProduct, lockProducts, upsertProducts } from './sql.ts';

export type Written = { before: CatalogRow | null; after: CatalogRow };

/** Creates and replaces products in the caller's transaction, which also records them in the audit log. */
export async function writeProducts(
  tx: Queryable,
  { clock }: { clock: Clock },
  products: GivenProduct[],
): Promise<Written[]> {
  const ids = products.map(({ id }) => id);
  const known = new Map((await lockProducts(tx, ids)).map((row) => [row.id, row]));
  await upsertProducts(tx, products, { now: new Date(clock.nowMs()), overwrite: true });
  const rows = await lockProducts(tx, ids);
  return rows.map((after) => ({ before: known.get(after.id) ?? null, after }));
}

/** What was written, by field: the old and the new value, or the value of a new product. */
export function changesOf({ before, after }: Written): Record<string, unknown> {
  return before ? changedFields(fieldsOf(before), fieldsOf(after)) : fieldsOf(after);
}

export async function auditProduct(tx: Queryable, author: Author, written: Written): Promise<void> {
  const { before, after } = written;
  await recordAudit(tx, author, {
    accountUuid: null,
    action: before?.active && !after.active ? 'product.deactivated' : 'product.updated',
    target: { type: 'product', id: after.id },
    changes: changesOf(written),
  });
}

function fieldsOf({ id: _, created_at: __, ...fields }: CatalogRow) {
  return fields;
}
