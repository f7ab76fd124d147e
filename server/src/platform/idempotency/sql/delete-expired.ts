import type { Queryable } from '../../db/database.ts';

/** Deletes a batch of expired keys and returns how many. `skip locked` lets several processes purge at once. */
export async function deleteExpired(db: Queryable, now: Date, batchSize: number): Promise<number> {
  const rows = await db.query(
    {
      name: 'idempotency_delete_expired',
      text: `
delete from idempotency_keys
where (account_id, key) in (
  select account_id, key
  from idempotency_keys
  where expires_at <= $1
  order by expires_at
  limit $2
  for update skip locked)
returning 1`,
    },
    [now, batchSize],
  );
  return rows.length;
}
