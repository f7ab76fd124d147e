import { type ApiKey, hasScope, type Scope } from '@simplane/contract';
import { isWithinOneOf, requireCidr } from '../platform/addresses/in-networks.ts';
import { AppError } from '../platform/app-error.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { Context } from './context.ts';
import { isExpired, isUsableFrom } from './key-state.ts';
import { type ApiKeyRow, findKeyRow, lockKey } from './sql/keys.ts';

/** What a key can do, where from and until when. */
export type Powers = Pick<ApiKeyRow, 'scopes' | 'expires_at' | 'allowed_cidrs'>;

/** A key creates, changes and rolls only keys that have no more than itself; otherwise no limit of a key would hold. */
export function requireNoMore(maker: Powers, wanted: Powers): void {
  requireScopes(maker, wanted.scopes);
  if (!endsInTime(maker, wanted)) {
    throw new AppError(
      'api_key_settings_refused',
      `The key you use expires at ${maker.expires_at?.toISOString()}, and manages only keys that expire no later. Choose an earlier expires_at (left out, a new key gets yours), use a key that lasts longer, or ask the operator.`,
      { param: 'expires_at' },
    );
  }
  if (!isInNetworks(maker, wanted)) {
    throw new AppError(
      'api_key_settings_refused',
      `The key you use works only from ${maker.allowed_cidrs.join(', ')}, and manages only keys whose networks lie within these. Choose allowed_cidrs within them (left out, a new key gets yours), use a key without networks, or ask the operator.`,
      { param: 'allowed_cidrs' },
    );
  }
}

function requireScopes({ scopes }: Powers, wanted: readonly Scope[]): void {
  const missing = wanted.find((scope) => !hasScope(scopes, scope));
  if (missing === undefined) return;
  throw new AppError(
    'scope_missing',
    `A key manages only keys whose scopes it has itself; it lacks the \`${missing}\` scope and has ${scopes.join(', ')}. Use a key with that scope, or ask the operator.`,
    { param: 'scopes' },
  );
}

function endsInTime({ expires_at: latest }: Powers, { expires_at: wanted }: Powers): boolean {
  return latest === null || (wanted !== null && wanted <= latest);
}

/** No networks means from anywhere. */
function isInNetworks({ allowed_cidrs: own }: Powers, { allowed_cidrs: wanted }: Powers): boolean {
  if (own.length === 0) return true;
  const networks = own.map(requireCidr);
  return wanted.length > 0 && wanted.every((cidr) => isWithinOneOf(networks, requireCidr(cidr)));
}

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

/** A repeated request shows a new key again. A key that could not have made it does not get it, although it repeats the request. */
export async function requireShownNoMore(ctx: Context, shown: ApiKey): Promise<void> {
  const maker = await findKeyRow(ctx.db, { accountUuid: ctx.account.uuid, keyUuid: ctx.apiKey.uuid });
  const expiresAt = shown.expires_at === null ? null : new Date(shown.expires_at * 1000);
  requireNoMore(maker ?? noPowers, { ...shown, expires_at: expiresAt });
}

const noPowers = { scopes: [], expires_at: null, allowed_cidrs: [] };
