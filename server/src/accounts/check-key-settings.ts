import type { Scope } from '@simplane/contract';
import { parseCidr } from '../platform/addresses/parse-address.ts';
import { AppError, invalid } from '../platform/app-error.ts';
import type { Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/db/database.ts';
import { clip } from '../platform/telemetry/clip.ts';
import type { Mode } from './api-key-text.ts';
import { countUsableKeys } from './sql/keys.ts';

type Settings = { allowed_cidrs?: string[]; expires_at?: number | null };

/** Refuses settings of a key that a schema cannot. */
export function checkKeySettings({ clock }: { clock: Clock }, settings: Settings): void {
  for (const [index, cidr] of (settings.allowed_cidrs ?? []).entries()) {
    if (parseCidr(cidr)) continue;
    throw invalid(
      `allowed_cidrs[${index}]`,
      `allowed_cidrs takes networks such as 203.0.113.0/24 or 2001:db8::/32, and 203.0.113.7/32 for one address; got "${clip(cidr)}".`,
    );
  }
  if (typeof settings.expires_at === 'number' && settings.expires_at * 1000 <= clock.nowMs()) {
    throw invalid('expires_at', 'expires_at must be in the future; to end a key now, revoke it with DELETE.');
  }
}

/** In live, `network` reports usage of every account's eSIMs, so only the operator gives it. */
export function requireTenantScopes(mode: Mode, added: readonly Scope[]): void {
  if (mode !== 'live' || !added.includes('network')) return;
  throw new AppError(
    'scope_missing',
    'In live mode only the operator gives a key the `network` scope, because it reports usage for every account. Ask the operator for such a key: it creates and rolls them.',
    { param: 'scopes' },
  );
}

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
