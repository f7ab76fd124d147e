import { idPrefixes } from '@simplane/contract';
import { noSuch } from '../platform/app-error.ts';
import type { Queryable } from '../platform/db/database.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import { recordAudit } from './audit/record.ts';
import type { Context } from './context.ts';
import { requireKeysChangeable } from './get-account.ts';
import { keyIdOf } from './get-key.ts';
import type { KeyIssuer } from './issue-key.ts';
import { requireAnotherAdmin } from './key-state.ts';
import { type ApiKeyRow, lockKey, saveKey } from './sql/keys.ts';

/** `DELETE /v1/api_keys/{id}`. Any admin may revoke any key, whatever its scopes: revoking only takes away. */
export async function deleteApiKey(tx: Queryable, ctx: Context, { params }: { params: { id: string } }) {
  const row = await lockKey(tx, keyIdOf(ctx.account.uuid, params.id));
  if (!row) throw noSuch('API key', params.id);
  await requireAnotherAdmin(tx, row, { nowMs: ctx.clock.nowMs(), address: ctx.ip });
  await revokeKey(tx, ctx, row);
  return { body: { id: params.id, object: 'api_key', deleted: true } as const, changes: null };
}

/** Every process refuses the key within 5 s. Revoking it again changes nothing. The caller has locked the key. */
export async function revokeKey(
  tx: Queryable,
  issuer: Pick<KeyIssuer, 'apiKey' | 'requestId' | 'ip' | 'clock' | 'newUuid'>,
  row: ApiKeyRow,
): Promise<ApiKeyRow> {
  if (row.revoked_at) return row;
  await requireKeysChangeable(tx, row.account_id);
  const revoked = { ...row, revoked_at: new Date(issuer.clock.nowMs()) };
  await saveKey(tx, revoked);
  await recordAudit(tx, issuer, {
    accountUuid: row.account_id,
    action: 'api_key.revoked',
    target: { type: 'api_key', id: idOfUuid(idPrefixes.apiKey, row.id) },
    changes: { name: row.name },
  });
  return revoked;
}
