import pg from 'pg';
import { expect, test } from 'vitest';
import { addUp, readUndelivered } from './read.ts';

function readWith(query: () => Promise<object[]>) {
  const ctx = { db: { queryWithin: query }, account: { uuid: 'a' } };
  return readUndelivered(ctx as unknown as Parameters<typeof readUndelivered>[0], 'b', {});
}

const failure = (code: string) => Object.assign(new pg.DatabaseError('failed', 0, 'error'), { code });

test('only a statement that took too long makes a count too broad', async () => {
  await expect(readWith(() => Promise.reject(failure('57014')))).rejects.toMatchObject({
    code: 'query_too_broad',
  });
  await expect(readWith(() => Promise.reject(failure('XX000')))).rejects.toMatchObject({ code: 'XX000' });
});

test('the oldest undelivered event is the oldest of all types and days', async () => {
  const rows = [5_000, 3_000, 4_000].map((oldest, n) => ({ type: `t${n}`, count: 2, oldest_ms: oldest }));
  expect(await readWith(async () => rows)).toMatchObject({ count: 6, oldest: 3, isCapped: false });
});

test('types are added up over all days, the most frequent of them first', () => {
  const of = (type: string, count: number) => ({ type, count });
  const days = [of('a', 3), of('b', 2), of('b', 4), of('c', 1), of('c', 4)];
  expect(addUp(days)).toEqual([of('b', 6), of('c', 5), of('a', 3)]);
});
