import type { Queryable } from '../../../platform/db/database.ts';

type Found = { status: number; location: string | null; created_at: Date };

export async function findIdempotencyKey(
  db: Queryable,
  accountUuid: string,
  key: string,
  at: Date,
): Promise<Found | null> {
  const [row] = await db.query<Found>(
    {
      name: 'search_idempotency_key',
      text: `
select status, location, created_at
from idempotency_keys
where account_id = $1 and key = $2 and expires_at > $3`,
    },
    [accountUuid, key, at],
  );
  return row ?? null;
}
