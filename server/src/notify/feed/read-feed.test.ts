import { expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import { encodePlace } from './cursor.ts';
import { readFeed, waitForFeed } from './read-feed.ts';
import { matchTypes, readAfter } from './read-page.ts';
import type { FeedRow, Located } from './sql/read.ts';

/** A feed that ends with an `a.wanted`, after so many events of another type. */
function feedWith(hidden: number) {
  const end = hidden + 1;
  const rowAt = (position: number): FeedRow => {
    const type = position === end ? 'a.wanted' : 'a.hidden';
    return { position, mark: 1, accountUuid: null, type, body: position === end ? '{}' : '' };
  };
  const db = {
    async query({ name }: { name: string }, values: unknown[]) {
      const head: Located = { position: end, mark: 1, expiredThrough: 0, expiredMark: null, markAt: 1 };
      if (name !== 'feed_read') return [head];
      const [, after, count] = values as [string, number, number];
      const first = Math.max(after, 1); // the row of the place itself comes first
      const length = Math.min(after + count, end) - first + 1;
      return Array.from({ length }, (_, index) => rowAt(first + index));
    },
  } as unknown as Queryable;
  return { db, account: { id: 'acct_1', uuid: 'u1' }, cell: null };
}

const start = { position: 0, mark: 0 };
const reading = { after: start, types: ['a.wanted'], limit: 10 };

test('what follows a place is not read if the feed has another history there', async () => {
  const feed = feedWith(3);
  const bounds = { count: 10, maxBytes: 1_000 };
  expect(await readAfter(feed, { position: 2, mark: 1 }, bounds)).toHaveLength(2);
  expect(await readAfter(feed, { position: 2, mark: 5 }, bounds)).toBeNull();
});

test('a page whose types hide everything ends after 20,000 events, and continues from its cursor', async () => {
  const feed = feedWith(20_500);
  const first = await readFeed(feed, reading);
  expect(first).toEqual({ events: [], place: { position: 20_000, mark: 1 }, isCaughtUp: false });
  const next = await readFeed(feed, { ...reading, after: first.place });
  expect(next.events.map(({ position }) => position)).toEqual([20_501]);
});

test('a request that waits reads on at once while its types hide what there is', async () => {
  const watch = { next: async () => false, close() {} };
  const { events } = await waitForFeed(feedWith(20_500), watch, reading, new AbortController().signal);
  expect(events.map(({ position }) => position)).toEqual([20_501]);
});

test('a request that waits reads no further once its time is over', async () => {
  const watch = { next: async () => false, close() {} };
  const page = await waitForFeed(feedWith(20_500), watch, reading, AbortSignal.abort());
  expect(page).toEqual({ events: [], place: { position: 20_000, mark: 1 }, isCaughtUp: false });
});

test('a place that expires before its page is read is refused, with the oldest place that is left', async () => {
  const head: Located = { position: 9, mark: 4, expiredThrough: 6, expiredMark: 3, markAt: null };
  const db = { query: async () => [head] } as unknown as Queryable;
  const feed = { db, account: { id: 'acct_1', uuid: 'u1' }, cell: null };
  const after = { position: 5, mark: 2 };
  await expect(readFeed(feed, { ...reading, after, param: 'after' })).rejects.toMatchObject({
    ...{ code: 'cursor_expired', param: 'after' },
    cursor: encodePlace(feed, { position: 6, mark: 3 }),
  });
});

test('a page of chosen types has no more events than its limit, and continues after the last one', async () => {
  const wanted = Array.from({ length: 50 }, (_, index): FeedRow => {
    return { position: index + 1, mark: 1, accountUuid: null, type: 'a.wanted', body: '{}' };
  });
  const head: Located = { position: 50, mark: 1, expiredThrough: 0, expiredMark: null, markAt: 1 };
  const query = async ({ name }: { name: string }) => (name === 'feed_read' ? wanted : [head]);
  const feed = { db: { query } as unknown as Queryable, account: { id: 'acct_1', uuid: 'u1' }, cell: null };
  const page = await readFeed(feed, { ...reading, limit: 10 });
  expect([page.events.length, page.place, page.isCaughtUp]).toEqual([10, { position: 10, mark: 1 }, false]);
});

test('a place of another history is refused with the parameter that it came from', async () => {
  const given = { ...reading, after: { position: 2, mark: 5 }, param: 'after' };
  await expect(readFeed(feedWith(3), given)).rejects.toMatchObject({
    code: 'cursor_expired',
    param: 'after',
  });
});

test.each<[string, FeedRow[]]>([
  ['the event of the place itself', []],
  ['an event, at the end', [[2, 'a.b'] as const, [3, null] as const].map(rowOf)],
  ['what was at the place, and shows another', [[3, 'a.b'] as const].map(rowOf)],
])('a page is not read if the feed has lost %s', async (_, rows) => {
  const db = { query: async () => [...rows] } as unknown as Queryable;
  const feed = { db, account: { id: 'acct_1', uuid: 'u1' }, cell: null };
  expect(await readAfter(feed, { position: 2, mark: 1 }, { count: 10, maxBytes: 1_000 })).toBeNull();
});

function rowOf([position, type]: readonly [number, string | null]): FeedRow {
  return { position, mark: 1, accountUuid: null, type, body: type && '{}' };
}

test('a family has the types below its name, and neither the name itself nor longer names', () => {
  const isWanted = matchTypes(['esim.*', 'usage']);
  const types = ['esim.a', 'esim.a.b', 'usage', 'esim', 'esims.a', 'usage.a', 'usages'];
  expect(types.filter(isWanted)).toEqual(['esim.a', 'esim.a.b', 'usage']);
  expect(types.filter(matchTypes(null))).toEqual(types);
});
