import type { Queryable } from '../../platform/db/database.ts';
import { ownedBy } from './owned-by.ts';
import { type ApiKeyRow, type KeyId, keyColumns } from './rows.ts';

export async function findKeyRow(db: Queryable, { accountUuid, keyUuid }: KeyId): Promise<ApiKeyRow | null> {
  const { condition, suffix } = ownedBy(accountUuid);
  const [row] = await db.query<ApiKeyRow>(
    {
      name: `api_key_get${suffix}`,
      text: `
select ${keyColumns}
from api_keys
where ${condition} and id = $2`,
    },
    [accountUuid, keyUuid],
  );
  return row ?? null;
}
