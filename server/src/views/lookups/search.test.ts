import { expect, test } from 'vitest';
import type { Context } from '../../accounts/context.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { search } from './search.ts';

const uuidAt = (n: number) => `0190a000-0000-7000-8000-00000000000${n}`;
const iccidAt = (n: number) => `899990100000000001${n}`;
const at = new Date(1_000);

/** Searches where the statements whose names begin like this find these rows, and the others nothing. */
function searchIn(found: Record<string, object[] | Error>, q: string, limit?: number) {
  const asked: unknown[][] = [];
  const db = {
    async query({ name }: { name: string }, values: unknown[]) {
      asked.push(values);
      const [, rows = []] = Object.entries(found).find(([start]) => name.startsWith(start)) ?? [];
      if (rows instanceof Error) throw rows;
      return rows;
    },
  };
  const ctx = {
    ...{ db, clock: { nowMs: () => 0 } },
    account: { uuid: uuidAt(9), id: idOfUuid('acct', uuidAt(9)), name: 'Shop' },
    apiKey: { id: idOfUuid('key', uuidAt(1)), scopes: ['read', 'admin'] },
  } as unknown as Context;
  const query = { q, ...(limit !== undefined && { limit }) };
  return { asked, result: search(ctx, { params: {}, query, body: {} }) };
}

const order = (n: number, iccid: string | null) => ({ id: uuidAt(n), iccid, about: 'x', created_at: at });

test('eSIMs come before orders, each once, and no more than asked for', async () => {
  const found = {
    search_reference: [order(1, null), order(2, iccidAt(2))],
    search_metadata: [order(3, iccidAt(3)), order(2, iccidAt(2))],
  };
  const typesOf = async (limit?: number) =>
    (await searchIn(found, 'A-1', limit).result).data.map(({ type, id }) => [type, id]);
  const all = [
    ['esim', iccidAt(2)],
    ['esim', iccidAt(3)],
    ['execution', idOfUuid('exec', uuidAt(1))],
  ];
  expect(await typesOf()).toEqual(all);
  expect(await typesOf(2)).toEqual(all.slice(0, 2));
});

test('spaces around what is searched for are ignored', async () => {
  const { asked, result } = searchIn({}, ' A-1 \n');
  await result;
  expect(asked.length).toBeGreaterThan(2);
  for (const values of asked) expect(values).toContain('A-1');
});

test('a key finds itself at /v1/me, and other keys at their own paths', async () => {
  const [own, other] = [1, 2].map((n) => idOfUuid('key', uuidAt(n))) as [string, string];
  const rows = { search_api_key: [{ about: 'Key', within: null, created_at: at }] };
  const pathOf = async (id: string) => (await searchIn(rows, id).result).data[0]?.path;
  expect([await pathOf(own), await pathOf(other)]).toEqual(['/v1/me', `/v1/api_keys/${other}`]);
});

test('an account finds itself by its id, and no other account', async () => {
  const countOf = async (n: number) => (await searchIn({}, idOfUuid('acct', uuidAt(n))).result).data.length;
  expect([await countOf(9), await countOf(8)]).toEqual([1, 0]);
});

test('an eSIM that cannot be looked up is not told as one that does not exist', async () => {
  const failing = searchIn({ esim_find: new Error('away') }, iccidAt(1)).result;
  await expect(failing).rejects.toThrow('away');
  expect((await searchIn({}, iccidAt(1)).result).data).toEqual([]);
});

test('a search looks for twenty of a kind, or for as many as are asked for, at most a hundred', async () => {
  for (const [limit, count] of [
    [undefined, 20],
    [7, 7],
    [1_000, 100],
  ]) {
    const { asked, result } = searchIn({}, '4711', limit);
    await result;
    const counts = asked.flat().filter((value) => typeof value === 'number');
    expect(counts).toEqual([count, count, count]);
  }
});
