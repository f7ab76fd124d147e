import type { Queryable } from '../../../../platform/db/database.ts';
import { liveSecrets } from '../../live-secrets.ts';
import type { EndpointKey } from './endpoint-row.ts';

/** Where to send a request, and the secrets that sign it now. */
type Target = { account_id: string; endpoint_id: string; url: string; secrets: string };

/** Also finds a disabled endpoint. */
export async function findTarget(db: Queryable, key: EndpointKey, now: Date): Promise<Target | null> {
  const [row] = await db.query<Target>(
    {
      name: 'endpoint_find_target',
      text: `
select e.account_id, e.id as endpoint_id, e.url, secret.list as secrets
from webhook_endpoints e
cross join lateral (${liveSecrets('$3')}) secret
where e.account_id = $1 and e.id = $2`,
    },
    [key.accountUuid, key.endpointUuid, now],
  );
  return row ?? null;
}
