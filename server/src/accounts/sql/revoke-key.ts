import type { Queryable } from '../../db/database.ts';
import { type ApiKeyRow, keyColumns } from './rows.ts';

export async function revokeKeyRow(db: Queryable, uuid: string, now: Date): Promise<ApiKeyRow | null> {
  const [row] = await db.query<ApiKeyRow>(
    {
      name: 'api_key_revoke',
      text: `
update api_keys
set revoked_at = coalesce(revoked_at, $2)
where id = $1
returning ${keyColumns}`,
    },
    [uuid, now],
  );
  return row ?? null;
}
