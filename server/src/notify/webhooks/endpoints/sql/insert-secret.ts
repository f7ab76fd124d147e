import type { Queryable } from '../../../../platform/db/database.ts';
import type { EndpointKey } from './endpoint-row.ts';

export async function insertSecret(
  tx: Queryable,
  key: EndpointKey,
  secret: { uuid: string; sealed: string; createdAt: Date },
): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_secret_insert',
      text: `
insert into webhook_secrets (account_id, endpoint_id, id, sealed, created_at)
values ($1, $2, $3, $4, $5)`,
    },
    [key.accountUuid, key.endpointUuid, secret.uuid, secret.sealed, secret.createdAt],
  );
}
