import type { Database } from './database.ts';

/**
 * Gathers statistics for tables of ours that have grown and have none: in a fresh database, and in one that was restored.
 * Without them all indexes that begin with the same column look alike, and a kept plan may read an account's whole index for
 * each row, until autovacuum comes, a minute later at the earliest. Smaller tables can wait: there the wrong index costs no
 * more than the right one.
 */
export function createFirstStatistics(db: Database, onError: (error: unknown) => void) {
  const leftToAutovacuum = new Set<string>();

  async function analyse(table: string): Promise<void> {
    try {
      await db.pool.query(`analyze (skip_locked) ${table}`); // another worker may be at it already
    } catch (error) {
      leftToAutovacuum.add(table); // tried again and again, it would keep autovacuum out
      onError(error);
    }
  }

  return async (stopping: AbortSignal): Promise<void> => {
    for (const { name } of await findGrown(db)) {
      if (stopping.aborted) return;
      if (!leftToAutovacuum.has(name)) await analyse(name);
    }
  };
}

function findGrown(db: Database): Promise<{ name: string }[]> {
  return db.query({
    name: 'tables_without_statistics',
    text: `select format('%I.%I', n.nspname, c.relname) as name
           from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname = current_schema() and c.relkind = 'r' and pg_has_role(c.relowner, 'usage')
             and pg_relation_size(c.oid) >= 65536
             and not exists (select from pg_stats s where s.schemaname = n.nspname and s.tablename = c.relname)
           order by c.relname`,
  });
}
