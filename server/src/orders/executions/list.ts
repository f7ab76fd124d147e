import type { InputOf, Operations } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { readPage } from '../../platform/lists/read-page.ts';
import { mayMatch } from './list-statement.ts';
import { presentExecution } from './present.ts';
import { listExecutionRows } from './sql/executions.ts';

export function listExecutions(ctx: Context, { query }: InputOf<Operations['listExecutions']>) {
  const { status, type, error_code: errorCode, reference } = query;
  const filter = { status, types: type && [...new Set(type)].sort(), errorCode, reference };
  return readPage(query, {
    scope: { list: 'executions', accountId: ctx.account.id, filters: filter },
    async read(beforeUuid, count) {
      if (!mayMatch(filter)) return [];
      return listExecutionRows(ctx.db, ctx.account.uuid, filter, { beforeUuid, count });
    },
    positionOf: (row) => row.id,
    present: presentExecution,
  });
}

/** For the timeline, which merges them with the eSIM's events. */
export { listRowsOfEsim as listExecutionsOfEsim } from './sql/executions.ts';
