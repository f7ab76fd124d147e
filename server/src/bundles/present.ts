import { type Bundle, idPrefixes } from '@simplane/contract';
import { unixSeconds } from '../clock.ts';
import { idOfUuid } from '../ids/uuid.ts';
import type { BundleRow } from './sql.ts';

export function presentBundle(row: BundleRow): Bundle {
  return {
    id: idOfUuid(idPrefixes.bundle, row.id),
    object: 'bundle',
    iccid: row.iccid,
    product_id: row.product_id,
    status: row.status,
    data_bytes: row.data_bytes,
    used_bytes: row.used_bytes,
    thresholds: row.thresholds,
    activated_at: row.activated_at && unixSeconds(row.activated_at),
    expires_at: row.expires_at && unixSeconds(row.expires_at),
    as_of: row.as_of && unixSeconds(row.as_of),
  };
}
