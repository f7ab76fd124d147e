import pg from 'pg';

/** No server can run the statement now. It had no effect unless it was already sent. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/**
 * Whether the database could not be reached or could not do the work now, which is worth a retry, as opposed to
 * refusing this statement, which is a bug.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return unavailableStates.test(error.code ?? '');
  if (error instanceof DatabaseUnavailable) return true;
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (code !== undefined && socketErrors.has(code)) || driverMessages.test(error.message);
}

/** Whether the server is read-only: a former primary or a standby. */
export function isReadOnlyError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '25006';
}

/** Whether the server ended the statement because it took too long. */
export function isTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '57014';
}

/** Whether the server is unreachable, shutting down or starting up. Another server may be available. */
export function isServerGone(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08...|57P0[1-4])$/.test(error.code ?? '');
  return isUnavailable(error) && !/trying to connect|after calling end/i.test((error as Error).message);
}

/** Whether the statement certainly had no effect, and some of its items might succeed on their own. */
export function wasRefused(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return !isUnavailable(error) || error.code === '40P01' || error.code === '40001';
}

// 08 connection, 3D000 the database does not exist (yet), 53 resources, 57P0x shutdown or crash, 57014 statement timeout,
// 40001/40P01 worth a retry, 25006 a server that was just demoted, 25P03 idle in transaction, 55P03 lock not available.
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
