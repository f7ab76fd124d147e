import { barAfterDepletion, type CatalogProduct, type Price, type Product } from '@simplane/contract';
import { unixSeconds } from '../../platform/clock.ts';
import type { CatalogRow, ProductRow } from './sql.ts';

export function presentProduct(row: ProductRow): Product {
  return {
    id: row.id,
    object: 'product',
    name: row.name,
    countries: row.countries,
    data_bytes: row.data_bytes,
    validity_days: row.validity_days,
    price: priceOf(row),
    speeds: row.speeds,
    after_depletion: row.after_depletion ?? barAfterDepletion,
    active: row.active,
    created: unixSeconds(row.created_at),
  };
}

export function priceOf({ price_amount, price_currency }: ProductRow): Price {
  return { amount: price_amount, currency: price_currency };
}

export function presentCatalogProduct(row: CatalogRow): CatalogProduct {
  return { ...presentProduct(row), listed: row.listed, profile_type: row.profile_type };
}
