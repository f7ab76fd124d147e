import { type Bundle, barAfterDepletion, type InputFor, idPrefixes } from '@simplane/contract';
import type { ReadContext } from '../../accounts/context.ts';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { readPageById } from '../../platform/lists/read-page.ts';
import { requireEsim } from '../esims/get.ts';
import { type BundleRow, listBundleRows } from './sql.ts';

export async function listBundles(ctx: ReadContext, { params, query }: InputFor<'listBundles'>) {
  const { iccid } = await requireEsim(ctx.db, ctx.account.uuid, params.iccid);
  return readPageById(query, {
    scope: { list: 'bundles', accountId: ctx.account.id, filters: { iccid } },
    read: (beforeUuid, count) => listBundleRows(ctx.db, ctx.account.uuid, iccid, beforeUuid, count),
    present: presentBundle,
  });
}

export function presentBundle(row: BundleRow): Bundle {
  return {
    id: idOfUuid(idPrefixes.bundle, row.id),
    object: 'bundle',
    iccid: row.iccid,
    product_id: row.product_id,
    reference: row.reference,
    status: row.status,
    countries: row.countries ?? [],
    price: row.price,
    data_bytes: row.data_bytes,
    used_bytes: row.used_bytes,
    thresholds: row.thresholds,
    after_depletion: row.after_depletion ?? barAfterDepletion,
    activated_at: row.activated_at && unixSeconds(row.activated_at),
    expires_at: row.expires_at && unixSeconds(row.expires_at),
    as_of: row.as_of && unixSeconds(row.as_of),
  };
}
