import type { Queryable } from '../../platform/db/database.ts';

/** Held to the end of the transaction, so that processes starting together create only one sandbox account. */
export async function lockAccounts(tx: Queryable): Promise<void> {
  await tx.query({ name: 'account_lock', text: 'lock table accounts in share row exclusive mode' });
}
