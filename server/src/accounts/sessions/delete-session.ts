import { idPrefixes } from '@simplane/contract';
import { AppError } from '../../platform/app-error.ts';
import type { Outcome } from '../../platform/idempotency/outcome.ts';
import { runOnce } from '../../platform/idempotency/run-once.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { clip } from '../../platform/telemetry/clip.ts';
import type { OperatorWriteContext, WriteContext } from '../context.ts';
import { recordEnd } from './end-session.ts';
import { deleteSessionOf } from './sql.ts';

type Input = { params: { id: string } };

/** `DELETE /v1/sessions/{id}`. Sessions are looked up for each request, so every process refuses it from now on. */
export function deleteSession(ctx: WriteContext, input: Input): Promise<Outcome> {
  return endOne(ctx, input, ctx.account.uuid);
}

/** `DELETE /v1/operator/sessions/{id}`. */
export function deleteOperatorSession(ctx: OperatorWriteContext, input: Input): Promise<Outcome> {
  return endOne(ctx, input, null);
}

function endOne(
  ctx: WriteContext | OperatorWriteContext,
  { params: { id } }: Input,
  accountUuid: string | null,
): Promise<Outcome> {
  return runOnce(ctx, async (tx) => {
    const uuid = uuidOfId(idPrefixes.session, id);
    const keyUuid = uuid && (await deleteSessionOf(tx, accountUuid, uuid));
    if (!keyUuid) {
      throw new AppError('resource_missing', `No session has the id "${clip(id)}", or it has ended.`, {
        param: 'id',
      });
    }
    await recordEnd(tx, ctx, { accountUuid, id, keyUuid });
    return ctx.render({ id, object: 'session', deleted: true });
  });
}
