import type { Product } from '@simplane/contract';
import type { Queryable } from '../db/database.ts';

export type ProductRow = {
  id: string;
  name: string;
  countries: string[];
  data_bytes: number | null;
  validity_days: number;
  price_amount: number;
  price_currency: string;
  speeds: Product['speeds'];
  active: boolean;
  created_at: Date;
};

const columns =
  'id, name, countries, data_bytes, validity_days, price_amount, price_currency, speeds, active, created_at';

export async function findProduct(db: Queryable, id: string): Promise<ProductRow | null> {
  const [row] = await db.query<ProductRow>(
    { name: 'product_find', text: `select ${columns} from products where id = $1` },
    [id],
  );
  return row ?? null;
}

export function listProductRows(
  db: Queryable,
  country: string | undefined,
  page: { before: { createdAt: Date; id: string } | null; count: number },
): Promise<ProductRow[]> {
  const values = [page.before?.createdAt ?? 'infinity', page.before?.id ?? '', page.count];
  if (country === undefined) return db.query(list, values);
  return db.query(listByCountry, [...values, country]);
}

const list = {
  name: 'product_list',
  text: `
select ${columns}
from products
where active and listed and (created_at, id) < ($1, $2)
order by created_at desc, id desc
limit $3`,
};

// A trigger keeps `product_countries`: the active and listed products of each country, in the list's order.
const listByCountry = {
  name: 'product_list_country',
  text: `
select product.*
from product_countries sold
cross join lateral (
  select ${columns}
  from products
  where id = sold.product_id
  offset 0
) product
where sold.country = $4 and (sold.created_at, sold.product_id) < ($1, $2)
order by sold.created_at desc, sold.product_id desc
limit $3`,
};

/** `profile_type` is the SM-DP+'s name for the profiles; it is not part of the public product. */
export type CatalogProduct = Omit<Product, 'object' | 'created'> & {
  listed: boolean;
  profile_type?: string | null;
};

/** Writes a whole catalog. An existing product keeps its `created_at`. Returns how many were inserted and updated. */
export async function upsertProducts(
  db: Queryable,
  products: CatalogProduct[],
  options: { now: Date; overwrite: boolean },
): Promise<{ inserted: number; updated: number }> {
  const onConflict = options.overwrite
    ? `do update set name = excluded.name, countries = excluded.countries, data_bytes = excluded.data_bytes,
         validity_days = excluded.validity_days, price_amount = excluded.price_amount,
         price_currency = excluded.price_currency, speeds = excluded.speeds, active = excluded.active,
         listed = excluded.listed, profile_type = excluded.profile_type`
    : 'do nothing';
  const rows = await db.query<{ inserted: boolean }>(
    {
      name: options.overwrite ? 'product_upsert' : 'product_seed',
      // Nested arrays cannot be unnested row by row, so the database parses the JSON.
      text: `insert into products (${columns}, listed, profile_type)
             select id, name, countries, data_bytes, validity_days, (price ->> 'amount')::bigint, price ->> 'currency',
                    speeds, active, $2, listed, profile_type
             from jsonb_to_recordset($1::jsonb) as p (id text, name text, countries text[], data_bytes bigint,
               validity_days integer, price jsonb, speeds text[], active boolean, listed boolean, profile_type text)
             order by id
             on conflict (id) ${onConflict}
             returning (xmax = 0) as inserted`,
    },
    [JSON.stringify(products), options.now],
  );
  const inserted = rows.filter((row) => row.inserted).length;
  return { inserted, updated: rows.length - inserted };
}

export async function countProducts(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: 'product_count',
    text: 'select count(*) from products',
  });
  return row?.count ?? 0;
}
