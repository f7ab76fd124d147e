import { idPrefixes } from '@simplane/contract';
import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { clip } from '../../platform/telemetry/clip.ts';
import type { Context, OperatorContext } from '../context.ts';
import { recordEnd } from './end-session.ts';
import { deleteSessionOf } from './sql.ts';

type Input = { params: { id: string } };

/** `DELETE /v1/sessions/{id}`. Sessions are looked up for each request, so every process refuses it from now on. */
export function deleteSession(tx: Queryable, ctx: Context, input: Input) {
  return endOne(tx, ctx, input, ctx.account.uuid);
}

/** `DELETE /v1/operator/sessions/{id}`. */
export function deleteOperatorSession(tx: Queryable, ctx: OperatorContext, input: Input) {
  return endOne(tx, ctx, input, null);
}

async function endOne(
  tx: Queryable,
  ctx: OperatorContext,
  { params: { id } }: Input,
  accountUuid: string | null,
) {
  const uuid = uuidOfId(idPrefixes.session, id);
  const keyUuid = uuid && (await deleteSessionOf(tx, accountUuid, uuid));
  if (!keyUuid) {
    throw new AppError('resource_missing', `No session has the id "${clip(id)}", or it has ended.`, {
      param: 'id',
    });
  }
  await recordEnd(tx, ctx, { accountUuid, id, keyUuid });
  return { body: { id, object: 'session', deleted: true } as const, changes: null };
}
