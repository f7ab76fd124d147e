import type { Product } from '@simplane/contract';

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

export const columns =
  'id, name, countries, data_bytes, validity_days, price_amount, price_currency, speeds, active, created_at';

/** With what only the operator sees. */
export type CatalogRow = ProductRow & { listed: boolean; profile_type: string | null };

export const catalogColumns = `${columns}, listed, profile_type`;
