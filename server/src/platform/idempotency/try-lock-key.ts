/**
 * SQL that tries to lock an account's key and never waits. If two keys have the same 64-bit hash, at worst one request is
 * answered as in progress.
 */
export function tryLockKey(accountId: string, key: string): string {
  return `pg_try_advisory_xact_lock(hashtextextended(${accountId}::text || ${key}, 0))`;
}
