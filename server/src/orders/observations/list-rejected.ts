import { type InputFor, idPrefixes, type RejectedUsage } from '@simplane/contract';
import type { OperatorContext } from '../../accounts/context.ts';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { readPage } from '../../platform/lists/read-page.ts';
import { listRejectedRows, type RejectedRow } from './usage-sql.ts';

/** The refused usage records of all accounts' keys. */
export function listRejectedUsage(
  { db }: Pick<OperatorContext, 'db'>,
  { query }: InputFor<'listRejectedUsage'>,
) {
  const filters = { iccid: query.iccid };
  return readPage(query, {
    scope: { list: 'rejected_usage', accountId: '', filters },
    read: (beforeUuid, count) => listRejectedRows(db, filters, { beforeUuid, count }),
    positionOf: (row) => row.id,
    present,
  });
}

function present(row: RejectedRow): RejectedUsage {
  return {
    object: 'rejected_usage',
    account_id: idOfUuid(idPrefixes.account, row.account_id),
    record_id: row.record_id,
    iccid: row.iccid,
    bytes: row.bytes,
    at: unixSeconds(row.observed_at),
    country: row.country,
    corrects: row.corrects,
    reason: row.reason,
    created: unixSeconds(row.rejected_at),
  };
}
