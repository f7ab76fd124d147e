import { expect, test } from 'vitest';
import type { Database } from '../../platform/db/database.ts';
import { endSession } from './end-session.ts';

const uuid = '0190a000-0000-7000-8000-000000000000';

/** Signs out of a session that the database still has, or not, and returns the audit entries. */
async function signOut(found: boolean, account: { uuid: string } | null): Promise<unknown[][]> {
  const entries: unknown[][] = [];
  const tx = {
    async query({ name }: { name: string }, values: unknown[]) {
      if (name === 'session_delete') return found ? [{ id: uuid }] : [];
      entries.push(values);
      return [];
    },
  };
  const db = { transaction: (work: (tx: object) => unknown) => work(tx) } as unknown as Database;
  const deps = { requestId: 'r', ip: null, clock: { nowMs: () => 0 }, newUuid: () => Buffer.alloc(16) };
  const apiKey = { id: 'key_1', uuid, name: 'Key', scopes: [], last4: 'abcd', createdAt: new Date(0) };
  await endSession(db, deps as unknown as Parameters<typeof endSession>[1], { account, apiKey }, 'token');
  return entries;
}

test('signing out is told once, to the account of the key or, for an operator’s, to none', async () => {
  expect((await signOut(true, { uuid })).map(([account]) => account)).toEqual([uuid]);
  expect((await signOut(true, null)).map(([account]) => account)).toEqual([null]);
  expect(await signOut(false, { uuid })).toEqual([]);
});
