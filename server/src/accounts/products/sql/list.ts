import type { Queryable } from '../../../platform/db/database.ts';
import { columns, type ProductRow } from './rows.ts';

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
