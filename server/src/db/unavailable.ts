import pg from 'pg';

/** There is no server that takes this now. Nothing of the statement was done unless it had been sent before. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/**
 * Whether an error says that the database could not be reached or could not take the work now, as opposed to
 * refusing this statement: the first is worth a retry, the second is a bug.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return unavailableStates.test(error.code ?? '');
  if (error instanceof DatabaseUnavailable) return true;
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (code !== undefined && socketErrors.has(code)) || driverMessages.test(error.message);
}

/** Whether this server takes no writes: a former primary, or a standby. */
export function isReadOnlyError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '25006';
}

/** Whether the server itself could not be reached, or is going away or not there yet. Another one may be. */
export function isServerGone(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08...|57P0[1-4])$/.test(error.code ?? '');
  return isUnavailable(error) && !/trying to connect|after calling end/i.test((error as Error).message);
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
  /timeout exceeded when trying to connect|timeout expired|connection terminated|query read timeout|not queryable|connection ended|pool after calling end/i;
