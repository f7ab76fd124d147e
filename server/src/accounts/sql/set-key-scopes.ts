import type { Scope } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';

/** A revoked key keeps its scopes. */
export async function setKeyScopes(db: Queryable, uuid: string, scopes: Scope[]): Promise<void> {
  await db.query(
    {
      name: 'api_key_set_scopes',
      text: `
update api_keys
set scopes = $2
where id = $1 and revoked_at is null`,
    },
    [uuid, scopes],
  );
}
