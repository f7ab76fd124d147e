import { expect, test } from 'vitest';
import type { Queryable } from '../platform/db/database.ts';
import { requireAnotherAdmin, requireUsable } from './key-state.ts';
import type { ApiKeyRow } from './sql/keys.ts';

const dayMs = 86_400_000;
const admin = { account_id: 'a', id: 'k', scopes: ['read', 'admin'], expires_at: null, revoked_at: null };
const rowOf = (own: object) => ({ ...admin, ...own }) as unknown as ApiKeyRow;

/** Whether a key may go from this address, if these are the other admins, and until when they had to last. */
async function leave(
  own: object,
  others: { allowed_cidrs: string[] }[],
  address: string | null = '192.0.2.1',
) {
  const asked: number[] = [];
  const tx = {
    async query(_statement: object, [, , until]: [string, string, Date]) {
      asked.push(until.getTime());
      return others;
    },
  } as unknown as Queryable;
  const error = await requireAnotherAdmin(tx, rowOf(own), { nowMs: 1_000, address }).catch(
    ({ code }: { code: string }) => code,
  );
  return [error ?? 'may go', ...asked];
}

test('a key that is no admin, no longer works or is an operator’s goes without a look at the others', async () => {
  for (const own of [
    { scopes: ['read', 'write'] },
    { revoked_at: new Date(0) },
    { expires_at: new Date(1_000) },
    { account_id: null },
  ]) {
    expect(await leave(own, [])).toEqual(['may go']);
  }
});

test('the last admin stays: another has to last as long, or for a day', async () => {
  const [other] = [{ allowed_cidrs: [] }];
  expect(await leave({}, [])).toEqual(['state_conflict', 1_000 + dayMs]);
  expect(await leave({}, [other])).toEqual(['may go', 1_000 + dayMs]);
  expect(await leave({ expires_at: new Date(9_000) }, [other])).toEqual(['may go', 9_000]);
  expect(await leave({ expires_at: new Date(3 * dayMs) }, [other])).toEqual(['may go', 1_000 + dayMs]);
});

test('another admin counts only if it works from the caller’s address', async () => {
  const near = { allowed_cidrs: ['192.0.2.0/24'] };
  expect(await leave({}, [near])).toEqual(['may go', 1_000 + dayMs]);
  expect(await leave({}, [near], '198.51.100.1')).toEqual(['state_conflict', 1_000 + dayMs]);
  expect(await leave({}, [near], null)).toEqual(['state_conflict', 1_000 + dayMs]);
});

test('a key that has ended is not changed, and the refusal says how it ended', () => {
  const now = new Date(5_000);
  const change = (own: object) => () => requireUsable(rowOf(own), now);
  expect(change({ expires_at: new Date(5_001) })).not.toThrow();
  expect(change({ expires_at: now })).toThrow('This key has expired');
  expect(change({ revoked_at: new Date(1), expires_at: now })).toThrow('This key was revoked');
});
