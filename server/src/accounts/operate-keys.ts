import type { InputFor } from '@simplane/contract';
import { noSuch } from '../platform/app-error.ts';
import type { Queryable } from '../platform/db/database.ts';
import { readPageById } from '../platform/lists/read-page.ts';
import { checkKeySettings } from './check-key-settings.ts';
import type { OperatorContext } from './context.ts';
import { addKey } from './create-key.ts';
import { revokeKey } from './delete-key.ts';
import { accountUuidOf, requireAccount } from './get-account.ts';
import { keyIdOf } from './get-key.ts';
import { presentKeyForOperator } from './present-key.ts';
import { listAccountKeys, lockKey } from './sql/keys.ts';

/** `GET /v1/operator/accounts/{id}/api_keys`. */
export async function listAccountApiKeys(
  ctx: OperatorContext,
  { params, query }: InputFor<'listAccountApiKeys'>,
) {
  const { id: uuid } = await requireAccount(ctx.db, params.id);
  return readPageById(query, {
    scope: { list: 'api_keys', accountId: params.id, filters: {} },
    read: (beforeUuid, count) => listAccountKeys(ctx.db, uuid, beforeUuid, count),
    present: presentKeyForOperator,
  });
}

/** `POST /v1/operator/accounts/{id}/api_keys`. */
export async function createAccountApiKey(
  tx: Queryable,
  ctx: OperatorContext,
  { params, body }: InputFor<'createAccountApiKey'>,
) {
  const { id: uuid } = await requireAccount(tx, params.id);
  checkKeySettings(ctx, body);
  const { row, key } = await addKey(tx, ctx, uuid, body);
  return { body: { ...presentKeyForOperator(row), key }, isSecret: true, changes: null };
}

/** `DELETE /v1/operator/accounts/{id}/api_keys/{key_id}`. Also the last admin key: the operator can create another. */
export async function deleteAccountApiKey(
  tx: Queryable,
  ctx: OperatorContext,
  { params }: InputFor<'deleteAccountApiKey'>,
) {
  const row = await lockKey(tx, keyIdOf(accountUuidOf(params.id), params.key_id, 'key_id'));
  if (!row) throw noSuch('API key', params.key_id, 'key_id');
  await revokeKey(tx, ctx, row);
  return { body: { id: params.key_id, object: 'api_key', deleted: true } as const, changes: null };
}
