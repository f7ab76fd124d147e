import { type Execution, idPrefixes } from '@simplane/contract';
import { AppError } from '../app-error.ts';
import type { Context } from '../context.ts';
import { uuidOfId } from '../ids/uuid.ts';
import { clip } from '../telemetry/clip.ts';
import { presentExecution } from './present.ts';
import { findExecution } from './sql/find.ts';

export async function getExecution(ctx: Context, { params }: { params: { id: string } }): Promise<Execution> {
  const uuid = uuidOfId(idPrefixes.execution, params.id);
  const row = uuid && (await findExecution(ctx.db, ctx.account.uuid, uuid));
  if (!row)
    throw new AppError('resource_missing', `No execution has the id "${clip(params.id)}".`, { param: 'id' });
  return presentExecution(row);
}
