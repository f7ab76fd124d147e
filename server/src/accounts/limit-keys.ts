import { AppError } from '../platform/app-error.ts';
import type { Queryable } from '../platform/db/database.ts';
import { countUsableKeys } from './sql/keys.ts';

/** The key directory keeps the 50,000 most recently used keys of all accounts, so one account must not take all of its room. */
export const maxUsableKeys = 1_000;

/** A rolled key works until its overlap ends, so that an account with the most keys can roll each of them. */
export const maxUsableKeysWithRolled = 2 * maxUsableKeys;

/** Throws if the account has this many usable keys. The caller has locked the account. */
export async function requireRoomForKey(
  tx: Queryable,
  accountUuid: string,
  { now, limit }: { now: Date; limit: number },
): Promise<void> {
  if ((await countUsableKeys(tx, accountUuid, now)) < limit) return;
  throw new AppError(
    'api_key_limit_reached',
    `The account has reached its limit of ${limit} usable API keys. Revoke one that is no longer used.`,
  );
}
