import { expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import { DatabaseUnavailable } from '../../platform/db/unavailable.ts';
import { encodePlace } from './cursor.ts';
import { isWithin, unknownPlace } from './find-place.ts';
import type { Located } from './sql/read.ts';

const head: Located = { position: 9, mark: 4, expiredThrough: 6, expiredMark: 3, markAt: 2 };

test('a place is kept from the last one that expired up to the end, where its mark must be that of the feed', () => {
  const places: [position: number, mark: number, isKept: boolean][] = [
    [5, 1, false],
    [6, 1, true],
    [8, 1, true],
    [9, 4, true],
    [9, 1, false],
    [10, 4, false],
  ];
  for (const [position, mark, isKept] of places) expect(isWithin(head, { position, mark })).toBe(isKept);
});

test('a place that the primary still has was looked up elsewhere: its reader tries again, and any other begins later', async () => {
  const db = { query: async () => [head] } as unknown as Queryable;
  const feed = { db, account: { id: 'acct_1', uuid: 'u1' }, cell: null };
  expect(await unknownPlace(feed, { position: 7, mark: 2 }, 'after')).toBeInstanceOf(DatabaseUnavailable);
  expect(await unknownPlace(feed, { position: 7, mark: 1 }, 'after')).toMatchObject({
    ...{ code: 'cursor_expired', param: 'after' },
    cursor: encodePlace(feed, { position: 6, mark: 3 }),
  });
});
