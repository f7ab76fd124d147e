import { type InputFor, idPrefixes } from '@simplane/contract';
import type { ReadContext } from '../../accounts/context.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { lowestUuid } from '../../platform/ids/uuid-range.ts';
import { createdRangeOf, idRangeOf } from '../../platform/lists/created-range.ts';
import { readPageById } from '../../platform/lists/read-page.ts';
import { mayMatch } from './list-statement.ts';
import { presentExecution } from './present.ts';
import { listExecutionRows } from './sql/executions.ts';

export function listExecutions(ctx: ReadContext, { query }: InputFor<'listExecutions'>) {
  const { status, type, error_code: errorCode, reference, batch_id: batchId } = query;
  const batchUuid = batchId === undefined ? undefined : (uuidOfId(idPrefixes.batch, batchId) ?? lowestUuid);
  const filter = { status, types: type && [...new Set(type)].sort(), errorCode, reference, batchUuid };
  const created = createdRangeOf(query);
  return readPageById(query, {
    scope: { list: 'executions', accountId: ctx.account.id, filters: { ...filter, created } },
    async read(beforeUuid, count) {
      if (!mayMatch(filter)) return [];
      const range = idRangeOf(created, beforeUuid);
      const page = { beforeUuid: range.beforeUuid, count };
      const rows = await listExecutionRows(ctx.db, ctx.account.uuid, filter, page);
      // Newest first, so those before the range are at the end, and the page is the last one.
      return rows.filter(({ id }) => id >= range.fromUuid);
    },
    present: presentExecution,
  });
}

/** For the timeline, which merges them with the eSIM's events. */
export { listRowsOfEsim as listExecutionsOfEsim } from './sql/executions.ts';
