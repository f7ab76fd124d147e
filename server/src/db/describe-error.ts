import pg from 'pg';

/** What may be logged of a database error: its message and detail quote values, its code and place do not. */
export function describeDatabaseError(error: unknown): object | null {
  if (!(error instanceof pg.DatabaseError)) return null;
  const { code, severity, schema, table, column, constraint, routine } = error;
  return { code, severity, schema, table, column, constraint, routine };
}
