import type { CatalogProduct } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';
import { catalogColumns } from './rows.ts';

/** A product as the operator gives it. */
export type GivenProduct = Omit<CatalogProduct, 'object' | 'created' | 'profile_type'> & {
  profile_type?: string | null;
};

/** Writes a whole catalog. An existing product keeps its `created_at`. Returns how many were inserted and updated. */
export async function upsertProducts(
  db: Queryable,
  products: GivenProduct[],
  options: { now: Date; overwrite: boolean },
): Promise<{ inserted: number; updated: number }> {
  const onConflict = options.overwrite
    ? `do update
set name = excluded.name,
    countries = excluded.countries,
    data_bytes = excluded.data_bytes,
    validity_days = excluded.validity_days,
    price_amount = excluded.price_amount,
    price_currency = excluded.price_currency,
    speeds = excluded.speeds,
    active = excluded.active,
    listed = excluded.listed,
    profile_type = excluded.profile_type`
    : 'do nothing';
  const rows = await db.query<{ inserted: boolean }>(
    {
      name: options.overwrite ? 'product_upsert' : 'product_seed',
      // Nested arrays cannot be unnested row by row, so the database parses the JSON.
      text: `
insert into products (${catalogColumns})
select
  id,
  name,
  countries,
  data_bytes,
  validity_days,
  (price ->> 'amount')::bigint,
  price ->> 'currency',
  speeds,
  active,
  $2,
  listed,
  profile_type
from jsonb_to_recordset($1::jsonb) as given (
  id text,
  name text,
  countries text[],
  data_bytes bigint,
  validity_days integer,
  price jsonb,
  speeds text[],
  active boolean,
  listed boolean,
  profile_type text
)
order by id
on conflict (id) ${onConflict}
returning (xmax = 0) as inserted`,
    },
    [JSON.stringify(products), options.now],
  );
  const inserted = rows.filter((row) => row.inserted).length;
  return { inserted, updated: rows.length - inserted };
}
