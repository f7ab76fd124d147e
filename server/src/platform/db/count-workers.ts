import type { Queryable } from './database.ts';

/** Worker processes that are connected to this database. Each has a connection for signals; not if it is pooled. */
export async function countWorkers(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: 'workers_count',
    text: `
select count(*)::int as count
from pg_stat_activity
where datname = current_database()
  and application_name ~ '^simplane/\\d+ signals$'`,
  });
  return row?.count ?? 0;
}
