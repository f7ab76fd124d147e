import { expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import { createHub, type Frame } from './hub.ts';
import type { FeedRow } from './sql/read.ts';

type Read = { after: number; give(lastPosition: number): void; giveNothing(): void; fail(): void };

/** A database whose pages the test gives out. */
function manualDatabase() {
  const reads: Read[] = [];
  const polls = { count: 0, position: 0 };
  const db = {
    query: ({ name }: { name: string }, values: unknown[] = []) =>
      new Promise<object[]>((resolve, reject) => {
        if (name === 'feed_heads') {
          polls.count += 1;
          return resolve([{ accountUuid: 'u1', position: polls.position }]);
        }
        const after = values[1] as number;
        const rowAt = (position: number, type: string | null): FeedRow => {
          return { position, mark: 1, accountUuid: null, type, body: type && '{}' };
        };
        const give = (last: number) => {
          const rows = after > 0 ? [rowAt(after, null)] : [];
          for (let position = after + 1; position <= last; position++) rows.push(rowAt(position, 'a.b'));
          resolve(rows);
        };
        const fail = () => reject(new Error('no connection'));
        reads.push({ after, give, giveNothing: () => resolve([]), fail });
      }),
  } as unknown as Queryable;
  const next = async (): Promise<Read> => {
    while (reads.length === 0) await new Promise((resolve) => setImmediate(resolve));
    return reads.shift() as Read;
  };
  return { db, next, reads, polls };
}

function createStream() {
  const taken: number[] = [];
  const seen = { ends: 0 };
  return {
    ...{ taken, seen },
    stream: {
      take: (frames: Frame[]) => void taken.push(...frames.map(({ position }) => position)),
      end() {
        seen.ends += 1;
      },
    },
  };
}

test('a stream that joins while a read for streams that have left is in flight gets no gap', async () => {
  const { db, next } = manualDatabase();
  const hub = createHub({ db, cell: null, onError: () => {} });
  const account = { id: 'acct_1', uuid: 'u1' };
  const [first, second] = [createStream(), createStream()];
  hub.watch(account); // keeps the account's entry when the first stream leaves
  hub.join(account, first.stream, { position: 8, mark: 1 });
  (await next()).give(10);
  const inFlight = await next();
  expect([first.taken, inFlight.after]).toEqual([[9, 10], 10]);

  hub.leave(account, first.stream);
  expect(hub.join(account, second.stream, { position: 8, mark: 1 })).toBe(true);
  inFlight.give(11);
  (await next()).give(11);
  await next();
  expect(second.taken).toEqual([9, 10, 11]);
  hub.stop();
});

test('a stream ends when its place is no longer in the feed, and when its process stops, even while it is opened', async () => {
  const { db, next } = manualDatabase();
  const hub = createHub({ db, cell: null, onError: () => {} });
  const account = { id: 'acct_1', uuid: 'u1' };
  const [first, second, late] = [createStream(), createStream(), createStream()];
  hub.join(account, first.stream, { position: 8, mark: 1 });
  (await next()).giveNothing();
  await expect.poll(() => first.seen.ends).toBe(1);
  hub.leave(account, first.stream);
  expect(hub.hasReaders()).toBe(false);
  hub.join(account, second.stream, { position: 3, mark: 1 });
  expect([second.seen.ends, hub.hasReaders()]).toEqual([0, true]);
  hub.stop();
  expect(hub.join(account, late.stream, { position: 3, mark: 1 })).toBe(true);
  expect([second.seen.ends, late.seen.ends]).toEqual([1, 1]);
});

test('a stream that is behind the others does not join them', async () => {
  const { db, next } = manualDatabase();
  const hub = createHub({ db, cell: null, onError: () => {} });
  const account = { id: 'acct_1', uuid: 'u1' };
  const [ahead, behind] = [createStream(), createStream()];
  hub.join(account, ahead.stream, { position: 8, mark: 1 });
  (await next()).give(10);
  await next();
  expect(hub.join(account, behind.stream, { position: 9, mark: 1 })).toBe(false);
  expect(hub.join(account, behind.stream, { position: 10, mark: 1 })).toBe(true);
  expect([ahead.taken, behind.taken]).toEqual([[9, 10], []]);
  hub.stop();
});

test('after a read that failed, the next poll reads again, although no event has come since', async () => {
  const { db, next, reads, polls } = manualDatabase();
  const errors: unknown[] = [];
  const hub = createHub({ db, cell: null, pollMs: 1, onError: (error) => errors.push(error) });
  const account = { id: 'acct_1', uuid: 'u1' };
  const { stream, taken } = createStream();
  polls.position = 8; // so that the first poll sees no news
  hub.join(account, stream, { position: 8, mark: 1 });
  (await next()).give(8);
  (await next()).give(8); // the first poll's
  polls.position = 9;
  (await next()).fail();
  await expect.poll(() => errors.length).toBe(1);
  const { count } = polls;
  await expect.poll(() => polls.count).toBeGreaterThan(count + 2);
  reads[0]?.give(9);
  expect([reads.length, taken]).toEqual([1, []]);
  await expect.poll(() => taken).toEqual([9]);
  hub.stop();
});

test('a wait that begins after the stop ends at once', async () => {
  const hub = createHub({ db: manualDatabase().db, cell: null, onError: () => {} });
  hub.stop();
  const watch = hub.watch({ id: 'acct_1', uuid: 'u1' });
  const waiting = watch.next(new AbortController().signal);
  const turn = new Promise((resolve) => setImmediate(resolve, 'waits'));
  expect(await Promise.race([waiting, turn])).toBe(false);
});

test('a signal of no account in particular wakes the readers of all', async () => {
  const hub = createHub({ db: manualDatabase().db, cell: null, onError: () => {} });
  const watches = ['u1', 'u2'].map((uuid) => hub.watch({ id: uuid, uuid }));
  const waiting = watches.map((watch) => watch.next(new AbortController().signal));
  hub.wake('u3');
  hub.wake();
  expect(await Promise.all(waiting)).toEqual([true, true]);
  for (const watch of watches) watch.close();
  expect(hub.hasReaders()).toBe(false);
  hub.stop();
});
