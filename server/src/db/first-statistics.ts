import type { Queryable } from './database.ts';

/**
 * Gathers statistics for tables of ours that have grown and have none. Without them all indexes that begin with the same
 * column look alike, and a kept plan may read an account's whole index for each row; autovacuum comes a minute later, and after
 * a restore. Smaller tables can wait: there the wrong index costs no more than the right one.
 */
export async function gatherFirstStatistics(db: Queryable): Promise<void> {
  const grown = await db.query<{ name: string }>({
    name: 'tables_without_statistics',
    text: `select format('%I.%I', s.schemaname, s.relname) as name
           from pg_stat_user_tables s join pg_tables t on t.schemaname = s.schemaname and t.tablename = s.relname
           where s.schemaname = current_schema() and t.tableowner = current_user
             and s.last_analyze is null and s.last_autoanalyze is null and s.n_mod_since_analyze >= 500`,
  });
  for (const { name } of grown) {
    // Another worker may be at it already.
    await db.query({ name: `analyze_${name}`, text: `analyze (skip_locked) ${name}` });
  }
}
