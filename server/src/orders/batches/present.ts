import { type Batch, idPrefixes } from '@simplane/contract';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import type { BatchRow } from './sql.ts';

export function presentBatch(row: BatchRow): Batch {
  return {
    id: idOfUuid(idPrefixes.batch, row.id),
    object: 'batch',
    product_id: row.product_id,
    total: row.total,
    succeeded: row.succeeded,
    failed: row.failed,
    canceled: row.canceled,
    open: row.open,
    created: unixSeconds(row.created_at),
    finished_at: row.finished_at && unixSeconds(row.finished_at),
  };
}
