import type { Queryable } from '../../../../platform/db/database.ts';
import type { EndpointKey } from './endpoint-row.ts';

/** Expires all current secrets at `expiresAt`, unless they expire earlier. */
export async function expireSecrets(tx: Queryable, key: EndpointKey, expiresAt: Date): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_secret_expire',
      text: `
update webhook_secrets
set expires_at = least(expires_at, $3)
where account_id = $1 and endpoint_id = $2`,
    },
    [key.accountUuid, key.endpointUuid, expiresAt],
  );
}
