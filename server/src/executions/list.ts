import type { InputOf, Operations } from '@simplane/contract';
import type { Context } from '../context.ts';
import { readPage } from '../lists/read-page.ts';
import { presentExecution } from './present.ts';
import { listExecutionRows } from './sql/list.ts';

export function listExecutions(ctx: Context, { query }: InputOf<Operations['listExecutions']>) {
  const { status } = query;
  return readPage(query, {
    scope: { list: 'executions', accountId: ctx.account.id, filters: { status } },
    read: (beforeUuid, count) => listExecutionRows(ctx.db, ctx.account.uuid, { status, beforeUuid, count }),
    positionOf: (row) => row.id,
    present: presentExecution,
  });
}
