import { join } from 'node:path';
import { accountScopes } from '@simplane/contract';
import type { Cell } from '../platform/cell.ts';
import type { Database } from '../platform/db/database.ts';
import type { TimeAndIds } from '../platform/ids/uuid-v7.ts';
import { readOrCreateSecretFile } from '../platform/secrets/secret-file.ts';
import { generateApiKey, hexHashOf, sandboxKeyPattern } from './api-key-text.ts';
import { storeKey } from './issue-key.ts';
import { isOpen, listAccountRows, lockAccounts } from './sql/accounts.ts';
import { findKeysByHash, setKeyScopes } from './sql/keys.ts';
import { storeAccount } from './store-account.ts';

/** A revoked or expired key is never reactivated; a new key is needed. */
export type SandboxKeyState =
  | { kind: 'usable'; id: string }
  | { kind: 'revoked'; id: string; at: Date }
  | { kind: 'expired'; id: string; at: Date };

/**
 * Ensures that the sandbox key exists in the oldest open account, with all scopes of an account. Creates an account if there is none.
 */
export function ensureSandboxKey(db: Database, deps: TimeAndIds, key: string): Promise<SandboxKeyState> {
  return db.transaction(async (tx) => {
    await lockAccounts(tx);
    const [known] = await findKeysByHash(tx, [hexHashOf(key)]);
    if (known) {
      const { id, revoked_at: revokedAt, expires_at: expiresAt } = known;
      if (revokedAt) return { kind: 'revoked', id, at: revokedAt };
      if (expiresAt && expiresAt.getTime() <= deps.clock.nowMs())
        return { kind: 'expired', id, at: expiresAt };
      await setKeyScopes(tx, id, [...accountScopes]);
      return { kind: 'usable', id };
    }
    const oldest = (await listAccountRows(tx)).find(isOpen);
    const account = oldest ?? (await storeAccount(tx, deps, 'Sandbox'));
    const created = await storeKey(tx, deps, {
      key,
      accountUuid: account.id,
      name: 'Sandbox key',
      scopes: [...accountScopes],
      expiresAt: null,
    });
    return { kind: 'usable', id: created.id };
  });
}

export function sandboxKeyFile(dataDir: string): string {
  return join(dataDir, 'sandbox-api-key');
}

/** Reads the sandbox key from the data folder. The first start generates it; only the file's owner can read it. */
export async function readOrCreateSandboxKey(dataDir: string, cell: Cell): Promise<string> {
  const path = sandboxKeyFile(dataDir);
  const key = await readOrCreateSecretFile(path, () => generateApiKey('sandbox', cell));
  if (!sandboxKeyPattern.test(key)) {
    throw new Error(
      `${path} does not contain a key that begins with sp_test_ and has at least 16 more characters; delete the file to get a new one`,
    );
  }
  return key;
}
