import { type Execution, idPrefixes } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { noSuch } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { presentExecution } from './present.ts';
import { type ExecutionRow, findExecution } from './sql/executions.ts';

export async function getExecution(ctx: Context, { params }: { params: { id: string } }): Promise<Execution> {
  return presentExecution(await requireExecution(ctx.db, ctx.account.uuid, params.id));
}

export async function requireExecution(
  db: Queryable,
  accountUuid: string,
  id: string,
): Promise<ExecutionRow> {
  const uuid = uuidOfId(idPrefixes.execution, id);
  const row = uuid && (await findExecution(db, accountUuid, uuid));
  if (!row) throw noSuch('execution', id);
  return row;
}
