import { idPrefixes, rollOverlap } from '@simplane/contract';
import { isInOneOf, requireCidr } from '../platform/addresses/in-networks.ts';
import { conflict } from '../platform/app-error.ts';
import type { Queryable } from '../platform/db/database.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import { type ApiKeyRow, listOtherAdmins } from './sql/keys.ts';

/** A revoked or expired key never works again, whatever is changed. */
export function requireUsable(row: ApiKeyRow, now: Date): void {
  const ended = row.revoked_at ? 'was revoked' : isExpired(row, now) ? 'has expired' : null;
  if (ended === null) return;
  throw conflict(`This key ${ended}, so it cannot be changed. Create a new key.`);
}

export function requireNotRolled({ replaced_by: successor }: ApiKeyRow): void {
  if (successor === null) return;
  throw conflict(
    `This key was already rolled. Roll its successor, ${idOfUuid(idPrefixes.apiKey, successor)}, or create a new key.`,
  );
}

// A key that was rolled works for a day more unless the caller says otherwise. It does not count as another admin.
const soonMs = rollOverlap.default * 1000;

/**
 * Without an `admin` key that works where the caller is, an account could no longer manage its keys. Another key counts if it lasts
 * as long as this one, or for a day. The caller has locked the account.
 */
export async function requireAnotherAdmin(
  tx: Queryable,
  row: ApiKeyRow,
  { nowMs, address }: { nowMs: number; address: string | null },
): Promise<void> {
  const isEnded = row.revoked_at !== null || isExpired(row, new Date(nowMs));
  if (row.account_id === null || !row.scopes.includes('admin') || isEnded) return;
  const until = new Date(Math.min(row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY, nowMs + soonMs));
  const others = await listOtherAdmins(tx, row.account_id, { keyUuid: row.id, until });
  if (others.some((other) => isUsableFrom(other, address))) return;
  throw conflict(
    'No other key with the `admin` scope would be left that works from your address and for more than a day. Create one first, or roll this key.',
  );
}

export function isExpired({ expires_at: expiresAt }: Pick<ApiKeyRow, 'expires_at'>, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** Free for keys without networks. */
export function isUsableFrom(
  { allowed_cidrs: cidrs }: Pick<ApiKeyRow, 'allowed_cidrs'>,
  address: string | null,
): boolean {
  return cidrs.length === 0 || isInOneOf(cidrs.map(requireCidr), address ?? undefined);
}
