import { AppError } from '../platform/app-error.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { Context } from './context.ts';
import { isExpired, isUsableFrom } from './key-state.ts';
import { type ApiKeyRow, lockKey } from './sql/keys.ts';

/**
 * Locks the account and returns the key that makes the request. Read again, because a process trusts what it knows of a key for
 * seconds: a key that was revoked or limited in the meantime must not make another.
 */
export async function lockMaker(tx: Queryable, ctx: Context): Promise<ApiKeyRow> {
  const row = await lockKey(tx, { accountUuid: ctx.account.uuid, keyUuid: ctx.apiKey.uuid });
  const now = new Date(ctx.clock.nowMs());
  const isAdmin = row?.scopes.includes('admin') && row.revoked_at === null;
  if (row && isAdmin && !isExpired(row, now) && isUsableFrom(row, ctx.ip)) return row;
  throw new AppError(
    'api_key_invalid',
    'This API key was revoked or changed a moment ago, so it can no longer manage keys. Use another key with the `admin` scope.',
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  );
}
