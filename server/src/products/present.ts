import type { Product } from '@simplane/contract';
import { unixSeconds } from '../clock.ts';
import type { ProductRow } from './sql/rows.ts';

export function presentProduct(row: ProductRow): Product {
  return {
    id: row.id,
    object: 'product',
    name: row.name,
    countries: row.countries,
    data_bytes: row.data_bytes,
    validity_days: row.validity_days,
    price: { amount: row.price_amount, currency: row.price_currency },
    speeds: row.speeds,
    active: row.active,
    created: unixSeconds(row.created_at),
  };
}
