import { idPrefixes } from '@simplane/contract';
import { AppError } from '../app-error.ts';
import type { Queryable } from '../db/database.ts';
import { idOfUuid } from '../ids/uuid.ts';
import { countUsableKeys } from './sql/count-usable-keys.ts';
import type { ApiKeyRow } from './sql/rows.ts';

/** A revoked or expired key never works again, whatever is changed. */
export function requireUsable(row: ApiKeyRow, now: Date): void {
  const ended = row.revoked_at ? 'was revoked' : isExpired(row, now) ? 'has expired' : null;
  if (ended === null) return;
  throw new AppError('state_conflict', `This key ${ended}, so it cannot be changed. Create a new key.`);
}

export function requireNotRolled({ replaced_by: successor }: ApiKeyRow): void {
  if (successor === null) return;
  throw new AppError(
    'state_conflict',
    `This key was already rolled. Roll its successor, ${idOfUuid(idPrefixes.apiKey, successor)}, or create a new key.`,
  );
}

/** Without a usable `admin` key, an account could no longer manage its keys. The caller has locked the account. */
export async function requireAnotherAdmin(tx: Queryable, row: ApiKeyRow, now: Date): Promise<void> {
  if (row.account_id === null || !row.scopes.includes('admin') || row.revoked_at || isExpired(row, now))
    return;
  const { admins } = await countUsableKeys(tx, row.account_id, { now, except: row.id });
  if (admins > 0) return;
  throw new AppError(
    'state_conflict',
    'This is the account’s last usable key with the `admin` scope: it cannot be revoked, lose that scope, or expire earlier. Create another key with `admin` first, or roll this one.',
  );
}

function isExpired({ expires_at: expiresAt }: ApiKeyRow, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now;
}
