import type { Keyring } from '../../src/platform/secrets/keyring.ts';
import { signingSecretPlace } from '../../src/platform/secrets/sealed-places.ts';

export type SecretRow = {
  account_id: string;
  endpoint_id: string;
  id: string;
  sealed: string;
  created_at: Date;
  expires_at: Date | null;
};

/** The secrets that sign a delivery now, newest first: one, or more during a rotation overlap. */
export function liveSecrets(rows: readonly SecretRow[], now: Date, keyring: Keyring): Promise<string[]> {
  const live = rows
    .filter(({ expires_at }) => expires_at === null || expires_at > now)
    .sort((a, b) => endOf(b) - endOf(a) || Number(b.created_at) - Number(a.created_at));
  return Promise.all(
    live.map(({ account_id, endpoint_id, id, sealed }) =>
      keyring.open(sealed, signingSecretPlace(account_id, endpoint_id, id)),
    ),
  );
}

/** The newest secret has no expiry. Compared before created_at, which comes from several machines' clocks. */
function endOf({ expires_at }: SecretRow): number {
  return expires_at === null ? Number.MAX_SAFE_INTEGER : Number(expires_at);
}
