import type { Database } from '../../src/platform/db/database.ts';

/** How many rows each table has, by its name. */
export async function countRows(db: Database): Promise<Record<string, number>> {
  const rows = await db.query<{ name: string; count: number }>(
    {
      name: 'test_count_rows',
      text: `select relname as name,
        (xpath('/row/c/text()', query_to_xml(format('select count(*) as c from %I', relname), true, true, '')))[1]::text::integer as count
        from pg_class
        where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
        order by relname`,
    },
    [],
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}
