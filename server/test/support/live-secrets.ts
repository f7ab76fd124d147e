import type { Keyring } from '../../src/keyring.ts';
import type { SecretRow } from '../../src/webhooks/endpoints/sql.ts';

/** What a delivery is signed with now, newest first: one secret, or more while a rotation overlaps. */
export function liveSecrets(rows: readonly SecretRow[], now: Date, keyring: Keyring): string[] {
  return rows
    .filter(({ expires_at }) => expires_at === null || expires_at > now)
    .sort((a, b) => endOf(b) - endOf(a) || Number(b.created_at) - Number(a.created_at))
    .map(({ sealed }) => keyring.open(sealed));
}

/** The newest has no end yet. Before the time of creation, since that comes from the clocks of several machines. */
function endOf({ expires_at }: SecretRow): number {
  return expires_at === null ? Number.MAX_SAFE_INTEGER : Number(expires_at);
}
