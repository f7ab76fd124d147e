import { type InputFor, idPrefixes, type OperatorExecution } from '@simplane/contract';
import type { OperatorContext } from '../../accounts/context.ts';
import { noSuch } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { presentForOperator } from './present.ts';
import { type AnyExecutionRow, findAnyExecution } from './sql/executions.ts';

export async function getAnyExecution(
  { db }: Pick<OperatorContext, 'db'>,
  { params }: Pick<InputFor<'getAnyExecution'>, 'params'>,
): Promise<OperatorExecution> {
  return presentForOperator(await requireAnyExecution(db, params.id));
}

export async function requireAnyExecution(db: Queryable, id: string): Promise<AnyExecutionRow> {
  const uuid = uuidOfId(idPrefixes.execution, id);
  const row = uuid && (await findAnyExecution(db, uuid));
  if (!row) throw noSuch('execution', id);
  return row;
}
