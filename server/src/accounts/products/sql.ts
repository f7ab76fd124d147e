import type { AfterDepletion, CatalogProduct, Product } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { list, many, one, run, single } from '../../platform/db/statement.ts';

export type ProductRow = {
  id: string;
  name: string;
  countries: string[];
  data_bytes: number | null;
  validity_days: number;
  price_amount: number;
  price_currency: string;
  speeds: Product['speeds'];
  /** Null: the eSIM is barred. */
  after_depletion: AfterDepletion | null;
  active: boolean;
  created_at: Date;
};

const productColumns =
  'id, name, countries, data_bytes, validity_days, price_amount, price_currency, speeds, after_depletion, active, created_at';

/** With what only the operator sees. */
export type CatalogRow = ProductRow & { listed: boolean; profile_type: string | null };

const catalogColumns = `${productColumns}, listed, profile_type`;

export const findProduct = one<ProductRow, [id: string]>('product_find')`
select ${productColumns}
from products
where id = $1`;

export const listProductsByIds = many<ProductRow, [ids: string[]]>('product_list_by_ids')`
select ${productColumns}
from products
where id = any($1::text[])`;

export const findCatalogProduct = one<CatalogRow, [id: string]>('product_find_catalog')`
select ${catalogColumns}
from products
where id = $1`;

type Page = { before: { createdAt: Date; id: string } | null; count: number };
const valuesOf = ({ before, count }: Page) => [before?.createdAt ?? 'infinity', before?.id ?? '', count];

const listAll = many<ProductRow, [page: Page]>('product_list', valuesOf)`
select ${productColumns}
from products
where active and listed and (created_at, id) < ($1, $2)
order by created_at desc, id desc
limit $3`;

// A trigger keeps `product_countries`: the active and listed products of each country, in the list's order.
const listByCountry = many<ProductRow, [page: Page, country: string]>(
  'product_list_country',
  (page, country) => [...valuesOf(page), country],
)`
select product.*
from product_countries sold
cross join lateral (
  select ${productColumns}
  from products
  where id = sold.product_id
  offset 0
) product
where sold.country = $4 and (sold.created_at, sold.product_id) < ($1, $2)
order by sold.created_at desc, sold.product_id desc
limit $3`;

export function listProductRows(
  db: Queryable,
  country: string | undefined,
  page: Page,
): Promise<ProductRow[]> {
  return country === undefined ? listAll(db, page) : listByCountry(db, page, country);
}

/** Products of any state, newest first. */
export const listCatalogRows = many<CatalogRow, [page: Page]>('product_list_catalog', valuesOf)`
select ${catalogColumns}
from products
where (created_at, id) < ($1, $2)
order by created_at desc, id desc
limit $3`;

export const countProducts = single<number>('product_count')`
select count(*)
from products`;

/** Those of the products that exist. Locked in the order of their ids, so that two catalogs cannot deadlock. */
export const lockProducts = many<CatalogRow, [ids: string[]]>('product_lock')`
select ${catalogColumns}
from products
where id = any($1)
order by id
for update`;

export const setInactive = run<[id: string]>('product_deactivate')`
update products
set active = false
where id = $1 and active`;

/** A product as the operator gives it. */
export type GivenProduct = Omit<CatalogProduct, 'object' | 'created' | 'profile_type' | 'after_depletion'> & {
  profile_type?: string | null;
  after_depletion?: { action: AfterDepletion['action']; kbps?: number | null };
};

/** Each row tells whether it was inserted. */
const upsert = (name: string, onConflict: string) =>
  // Nested arrays cannot be unnested row by row, so the database parses the JSON.
  list<boolean, [products: GivenProduct[], now: Date]>(name, (products, now) => [
    JSON.stringify(products),
    now,
  ])`
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
  -- Null stands for the default, \`bar\`.
  case
    when after_depletion ->> 'action' <> 'bar'
      then jsonb_build_object('action', after_depletion -> 'action', 'kbps', after_depletion -> 'kbps')
  end,
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
  after_depletion jsonb,
  active boolean,
  listed boolean,
  profile_type text
)
order by id
on conflict (id) ${onConflict}
returning (xmax = 0) as inserted`;

const seed = upsert('product_seed', 'do nothing');
const overwrite = upsert(
  'product_upsert',
  `do update
set name = excluded.name,
    countries = excluded.countries,
    data_bytes = excluded.data_bytes,
    validity_days = excluded.validity_days,
    price_amount = excluded.price_amount,
    price_currency = excluded.price_currency,
    speeds = excluded.speeds,
    after_depletion = excluded.after_depletion,
    active = excluded.active,
    listed = excluded.listed,
    profile_type = excluded.profile_type`,
);

/** Writes a whole catalog. An existing product keeps its `created_at`. Returns how many were inserted and updated. */
export async function upsertProducts(
  db: Queryable,
  products: GivenProduct[],
  options: { now: Date; overwrite: boolean },
): Promise<{ inserted: number; updated: number }> {
  const rows = await (options.overwrite ? overwrite : seed)(db, products, options.now);
  const inserted = rows.filter(Boolean).length;
  return { inserted, updated: rows.length - inserted };
}
