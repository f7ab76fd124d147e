/**
 * SQL that takes the lock of an account's key, or says that it is taken; never a wait. Two keys that share its 64 bits are
 * at worst told to come back.
 */
export function lockKey(accountId: string, key: string): string {
  return `pg_try_advisory_xact_lock(hashtextextended(${accountId}::text || ${key}, 0))`;
}
