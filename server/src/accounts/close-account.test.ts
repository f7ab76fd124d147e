import { expect, test } from 'vitest';
import type { Queryable } from '../platform/db/database.ts';
import { markClosed } from './close-account.ts';
import type { Author } from './context.ts';

const uuid = '0190a000-0000-7000-8000-000000000000';
const open = { id: uuid, status: 'active', closed_at: null, closing: null, move: null };
const closed = (terminates: boolean) => ({
  ...open,
  ...{ closed_at: new Date(1), closing: { terminate_esims: terminates } },
});

/** The writes of closing an account that is stored like this, and whether it was found. */
async function close(row: object | null, terminateEsims: boolean) {
  const names: string[] = [];
  const tx = {
    async query({ name }: { name: string }) {
      names.push(name);
      return /^account_(lock_row|find)$/.test(name) && row ? [row] : [];
    },
  } as unknown as Queryable;
  const keeper = {
    apiKey: null,
    requestId: null,
    ip: null,
    clock: { nowMs: () => 5 },
    newUuid: () => Buffer.alloc(16),
  };
  const found = await markClosed(tx, keeper as unknown as Author, uuid, terminateEsims);
  return { isFound: found !== null, writes: names.filter((name) => !/^account_(lock_row|find)$/.test(name)) };
}

test('closing an account ends its keys and its sessions, and is told once', async () => {
  const { writes } = await close(open, false);
  for (const name of ['account_close', 'api_key_revoke_all', 'session_delete_of_account', 'closing_insert']) {
    expect(writes).toContain(name);
  }
  expect(writes.filter((name) => name === 'audit_insert')).toHaveLength(1);
});

test('closing an account again only adds that its eSIMs are terminated', async () => {
  expect((await close(closed(false), false)).writes).toEqual([]);
  expect((await close(closed(true), true)).writes).toEqual([]);
  expect((await close(closed(true), false)).writes).toEqual([]);
  expect((await close(closed(false), true)).writes).toEqual(['closing_add_terminations', 'audit_insert']);
});

test('an account that does not exist, or is being moved, is not closed', async () => {
  expect(await close(null, false)).toEqual({ isFound: false, writes: [] });
  const moving = { ...open, move: { state: 'frozen', cell: 'b' } };
  await expect(close(moving, false)).rejects.toMatchObject({ code: 'unavailable' });
});
