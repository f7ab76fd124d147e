import { defaultThresholds } from '@simplane/contract';

/**
 * The insert that writes all new bundles. `source` has one row per bundle: account_id, bundle_id, iccid, product_id, reference, data_bytes,
 * validity_days, thresholds (percentages, ascending), countries, after_depletion, price and at.
 */
export function insertBundleFrom(source: string): string {
  return `
  insert into bundles (account_id, id, iccid, product_id, reference, status, data_bytes, thresholds, validity_days, countries,
    after_depletion, price, created_at)
  select
    account_id,
    bundle_id,
    iccid,
    product_id,
    reference,
    'queued',
    data_bytes,
    -- Unlimited data has no thresholds.
    case when data_bytes is null then '{}' else thresholds end,
    validity_days,
    countries,
    after_depletion,
    price,
    at
  from ${source}`;
}

/** The first bundle of a new eSIM. `source` has one row per bundle: account_id, bundle_id, iccid, product_id, reference, price and at. */
export function firstBundleFrom(source: string): string {
  const bought = `(
    select
      esim.account_id,
      esim.bundle_id,
      esim.iccid,
      esim.product_id,
      esim.reference,
      product.data_bytes,
      product.validity_days,
      product.countries,
      product.after_depletion,
      -- An order that a release without prices has accepted has none.
      coalesce(
        esim.price,
        jsonb_build_object('amount', product.price_amount, 'currency', product.price_currency)) as price,
      '{${defaultThresholds.join()}}'::integer[] as thresholds,
      esim.at
    from ${source} esim
    join products product on product.id = esim.product_id
  ) bought`;
  return `
  first_bundle as (${insertBundleFrom(bought)}
  )`;
}
