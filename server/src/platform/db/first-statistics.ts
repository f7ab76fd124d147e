import type { Database } from './database.ts';

/**
 * Analyzes tables that have grown and have no statistics, as in a new or restored database. Without statistics, indexes with the
 * same first column look alike, and a cached plan may read an account's whole index for each row until autovacuum runs, a minute
 * later at the earliest. In smaller tables the wrong index costs no more than the right one.
 */
export function createFirstStatistics(db: Database, onError: (error: unknown) => void) {
  const leftToAutovacuum = new Set<string>();

  async function analyze(table: string): Promise<void> {
    try {
      await db.pool.query(`analyze (skip_locked) ${table}`); // another worker may already be analyzing it
    } catch (error) {
      onError(error);
    }
    // Once is enough: repeated attempts would block autovacuum, and a queue that happens to be empty never gets statistics.
    leftToAutovacuum.add(table);
  }

  return async (stopping: AbortSignal): Promise<void> => {
    for (const { name } of await findTables(db)) {
      if (stopping.aborted) return;
      if (!leftToAutovacuum.has(name)) await analyze(name);
    }
  };
}

function findTables(db: Database): Promise<{ name: string }[]> {
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
