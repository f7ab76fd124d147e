import { scopes } from '@simplane/contract';
import type { Database } from '../db/database.ts';
import { hashApiKey } from './api-key-text.ts';
import { createAccount, type Means } from './create-account.ts';
import { createApiKey } from './create-api-key.ts';
import { listAccountRows, lockAccounts, restoreKey } from './sql.ts';

/** Makes sure that the sandbox's own key works, with all scopes, in the oldest account; makes the account when there is none. */
export function ensureSandboxKey(db: Database, means: Means, key: string): Promise<void> {
  return db.transaction(async (tx) => {
    await lockAccounts(tx);
    if (await restoreKey(tx, hashApiKey(key), [...scopes])) return;
    const [oldest] = await listAccountRows(tx);
    const account = oldest ?? (await createAccount(tx, means, 'Sandbox'));
    await createApiKey(tx, means, {
      key,
      accountUuid: account.id,
      name: 'Sandbox key',
      scopes: [...scopes],
      expiresAt: null,
    });
  });
}
