import type { Queryable } from '../../../../platform/db/database.ts';
import type { EndpointKey } from './endpoint-row.ts';

/** Deletes expired secrets and all but the newest `kept`. */
export async function removeOldSecrets(
  tx: Queryable,
  key: EndpointKey,
  { now, kept }: { now: Date; kept: number },
): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_secret_remove_old',
      text: `
with newest as (
  select id
  from webhook_secrets
  where account_id = $1 and endpoint_id = $2
  order by expires_at desc nulls first, id desc
  limit $4
)
delete from webhook_secrets
where account_id = $1 and endpoint_id = $2 and (expires_at <= $3 or id not in (select id from newest))`,
    },
    [key.accountUuid, key.endpointUuid, now, kept],
  );
}
