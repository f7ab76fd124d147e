import pg from 'pg';

/** The fields of a database error that are safe to log. Its message and detail quote values. */
export function describeDatabaseError(error: unknown): object | null {
  if (!(error instanceof pg.DatabaseError)) return null;
  const { code, severity, schema, table, column, constraint, routine } = error;
  return { code, severity, schema, table, column, constraint, routine };
}
