import type { InputOf, Operations } from '@simplane/contract';
import type { Context } from '../context.ts';
import { readPage } from '../lists/read-page.ts';
import { presentExecution } from './present.ts';
import { listExecutionRows } from './sql/list.ts';

export function listExecutions(ctx: Context, { query }: InputOf<Operations['listExecutions']>) {
  const filter = { status: query.status, types: query.type && [...new Set(query.type)].sort() };
  return readPage(query, {
    scope: { list: 'executions', accountId: ctx.account.id, filters: filter },
    read: (beforeUuid, count) => listExecutionRows(ctx.db, ctx.account.uuid, filter, { beforeUuid, count }),
    positionOf: (row) => row.id,
    present: presentExecution,
  });
}
