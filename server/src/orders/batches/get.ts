import { type Batch, idPrefixes } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { noSuch } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { presentBatch } from './present.ts';
import { type BatchRow, findBatch } from './sql.ts';

export async function getBatch(ctx: Context, { params }: { params: { id: string } }): Promise<Batch> {
  return presentBatch(await requireBatch(ctx.db, ctx.account.uuid, params.id));
}

export async function requireBatch(db: Queryable, accountUuid: string, id: string): Promise<BatchRow> {
  const uuid = uuidOfId(idPrefixes.batch, id);
  const row = uuid && (await findBatch(db, accountUuid, uuid));
  if (row) return row;
  throw noSuch('batch', id);
}
