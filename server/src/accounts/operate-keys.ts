import type { InputOf, Operations } from '@simplane/contract';
import type { Outcome } from '../platform/idempotency/outcome.ts';
import { runOnce } from '../platform/idempotency/run-once.ts';
import { readPage } from '../platform/lists/read-page.ts';
import { checkKeySettings } from './check-key-settings.ts';
import type { OperatorContext, OperatorWriteContext } from './context.ts';
import { addKey } from './create-key.ts';
import { accountUuidOf, requireAccount } from './get-account.ts';
import { keyIdOf, noSuchKey } from './get-key.ts';
import { presentKeyForOperator } from './present-key.ts';
import { revokeKey } from './revoke-key.ts';
import { listAccountKeys, lockKey } from './sql/keys.ts';

/** `GET /v1/operator/accounts/{id}/api_keys`. */
export async function listKeysOfAccount(
  ctx: OperatorContext,
  { params, query }: InputOf<Operations['listAccountApiKeys']>,
) {
  const { id: uuid } = await requireAccount(ctx.db, params.id);
  return readPage(query, {
    scope: { list: 'api_keys', accountId: params.id, filters: {} },
    read: (beforeUuid, count) => listAccountKeys(ctx.db, uuid, { beforeUuid, count }),
    positionOf: (row) => row.id,
    present: presentKeyForOperator,
  });
}

/** `POST /v1/operator/accounts/{id}/api_keys`. */
export function createKeyOfAccount(
  ctx: OperatorWriteContext,
  { params, body }: InputOf<Operations['createAccountApiKey']>,
): Promise<Outcome> {
  const refusal = checkKeySettings(ctx, body);
  return runOnce(ctx, async (tx) => {
    const { id: uuid } = await requireAccount(tx, params.id);
    if (refusal) throw refusal;
    const { row, key } = await addKey(tx, ctx, uuid, body);
    return ctx.render({ ...presentKeyForOperator(row), key }, { isSecret: true });
  });
}

/** `DELETE /v1/operator/accounts/{id}/api_keys/{key_id}`. Also the last admin key: the operator can create another. */
export function deleteKeyOfAccount(
  ctx: OperatorWriteContext,
  { params }: InputOf<Operations['deleteAccountApiKey']>,
): Promise<Outcome> {
  return runOnce(ctx, async (tx) => {
    const row = await lockKey(tx, keyIdOf(accountUuidOf(params.id), params.key_id, 'key_id'));
    if (!row) throw noSuchKey(params.key_id, 'key_id');
    if (row.revoked_at) ctx.describe(null);
    await revokeKey(tx, ctx, row);
    return ctx.render({ id: params.key_id, object: 'api_key', deleted: true });
  });
}
