import type { InputFor } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { createdRangeOf, idRangeOf } from '../../platform/lists/created-range.ts';
import { readPageById } from '../../platform/lists/read-page.ts';
import { presentBatch } from './present.ts';
import { listBatchRows } from './sql.ts';

export function listBatches(ctx: Context, { query }: InputFor<'listBatches'>) {
  const created = createdRangeOf(query);
  return readPageById(query, {
    scope: { list: 'batches', accountId: ctx.account.id, filters: { created } },
    read(beforeUuid, count) {
      const range = idRangeOf(created, beforeUuid);
      return listBatchRows(ctx.db, ctx.account.uuid, range, count);
    },
    present: presentBatch,
  });
}
