import pg from 'pg';

/**
 * Whether an error says that the database could not be reached or could not take the work now, as opposed to
 * refusing this statement: the first is worth a retry, the second is a bug.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return unavailableStates.test(error.code ?? '');
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (code !== undefined && socketErrors.has(code)) || driverMessages.test(error.message);
}

/** Whether the database certainly did nothing of a statement, and might do a part of it. */
export function wasRefused(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return !isUnavailable(error) || error.code === '40P01' || error.code === '40001';
}

// 08 connection, 3D000 the database is not there (yet), 53 resources, 57P0x shutdown or crash, 57014 statement timeout,
// 40001/40P01 worth a retry, 25006 a replica that was just demoted, 25P03 idle in transaction, 55P03 lock not available.
const unavailableStates = /^(08...|3D000|53...|57P0[1-5]|57014|40001|40P01|25006|25P03|55P03)$/;
const socketErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const driverMessages =
  /timeout exceeded when trying to connect|connection terminated|query read timeout|not queryable|connection ended|pool after calling end/i;
