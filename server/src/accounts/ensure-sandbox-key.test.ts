import { expect, test } from 'vitest';
import type { Database } from '../platform/db/database.ts';
import { ensureSandboxKey } from './ensure-sandbox-key.ts';

const key = 'sp_test_0123456789abcdef';

/** What a process that starts finds of its key, of which the database has this. */
async function ensure(known: object) {
  const names: string[] = [];
  const tx = {
    async query({ name }: { name: string }, [hashes]: [string[]] = [[]]) {
      names.push(name);
      return name === 'api_keys_find' ? [{ hash: hashes[0], id: 'k', account: null, ...known }] : [];
    },
  };
  const db = { transaction: (work: (tx: object) => unknown) => work(tx) } as unknown as Database;
  const state = await ensureSandboxKey(
    db,
    { clock: { nowMs: () => 5_000 }, newUuid: () => Buffer.alloc(16) },
    key,
  );
  return [state.kind, names.includes('api_key_set_scopes')];
}

test('a sandbox key gets all scopes of an account, unless it has ended', async () => {
  const at = (ms: number) => new Date(ms);
  expect(await ensure({ revoked_at: null, expires_at: null })).toEqual(['usable', true]);
  expect(await ensure({ revoked_at: null, expires_at: at(5_001) })).toEqual(['usable', true]);
  expect(await ensure({ revoked_at: null, expires_at: at(5_000) })).toEqual(['expired', false]);
  expect(await ensure({ revoked_at: at(1), expires_at: at(9_000) })).toEqual(['revoked', false]);
});
