import type { Queryable } from '../../../platform/db/database.ts';
import { insertBundleFrom } from '../insert-from.ts';

type NewBundle = {
  accountUuid: string;
  uuid: string;
  iccid: string;
  product: { id: string; data_bytes: number | null; validity_days: number };
  thresholds: readonly number[];
  at: Date;
};

export async function insertBundle(tx: Queryable, row: NewBundle): Promise<void> {
  await tx.query(
    {
      name: 'bundle_insert',
      text: `
with given as (
  select
    $1::uuid as account_id,
    $2::uuid as bundle_id,
    $3::text as iccid,
    $4::text as product_id,
    $5::bigint as data_bytes,
    $6::integer as validity_days,
    $7::integer[] as thresholds,
    $8::timestamptz as at
)${insertBundleFrom('given')}`,
    },
    [
      row.accountUuid,
      row.uuid,
      row.iccid,
      row.product.id,
      row.product.data_bytes,
      row.product.validity_days,
      row.thresholds,
      row.at,
    ],
  );
}
