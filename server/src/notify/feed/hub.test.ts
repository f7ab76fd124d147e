import { getEventListeners } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
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

/** How a wait ends, or `waits` if it does not end by itself. */
function endOf(waiting: Promise<boolean>): Promise<boolean | string> {
  return Promise.race([waiting, new Promise<string>((resolve) => setImmediate(resolve, 'waits'))]);
}

const never = new AbortController().signal;

test('a wait ends without news at the stop, when its time is over, and at once if it begins after either', async () => {
  const hub = createHub({ db: manualDatabase().db, cell: null, onError: () => {} });
  const watch = () => hub.watch({ id: 'acct_1', uuid: 'u1' });
  const time = new AbortController();
  const [untilStop, untilTime] = [watch().next(never), watch().next(time.signal)];
  expect(await endOf(watch().next(AbortSignal.abort()))).toBe(false);
  time.abort();
  expect([await endOf(untilTime), await endOf(untilStop)]).toEqual([false, 'waits']);
  hub.stop();
  expect([await endOf(untilStop), await endOf(watch().next(never))]).toEqual([false, false]);
});

test('each signal ends one wait, which leaves nothing behind', async () => {
  const hub = createHub({ db: manualDatabase().db, cell: null, onError: () => {} });
  const watch = hub.watch({ id: 'acct_1', uuid: 'u1' });
  const time = new AbortController();
  for (let count = 0; count < 3; count++) {
    const waiting = watch.next(time.signal);
    expect(await endOf(waiting)).toBe('waits');
    hub.wake('u1');
    expect(await endOf(waiting)).toBe(true);
  }
  expect(getEventListeners(time.signal, 'abort')).toEqual([]);
  hub.wake('u1'); // while nobody waits
  expect(await endOf(watch.next(time.signal))).toBe(true);
  hub.stop();
});

test('an account has readers until its last stream and its last wait have ended', () => {
  const { db } = manualDatabase();
  const hub = createHub({ db, cell: null, onError: () => {} });
  const account = { id: 'acct_1', uuid: 'u1' };
  const { stream } = createStream();
  for (const endsFirst of ['stream', 'watch']) {
    const watch = hub.watch(account);
    hub.join(account, stream, { position: 8, mark: 1 });
    const ends = [() => hub.leave(account, stream), () => watch.close()];
    for (const [index, end] of (endsFirst === 'stream' ? ends : ends.reverse()).entries()) {
      end();
      expect(hub.hasReaders()).toBe(index === 0);
    }
  }
  hub.stop();
});

test('a poll wakes those who read only if there is news, and asks nothing while nobody reads', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { db, next, reads, polls } = manualDatabase();
  const hub = createHub({ db, cell: null, pollMs: 1_000, onError: (error) => expect.fail(String(error)) });
  await vi.advanceTimersByTimeAsync(3_000);
  expect(polls.count).toBe(0);
  const account = { id: 'acct_1', uuid: 'u1' };
  polls.position = 8;
  const watch = hub.watch(account);
  hub.join(account, createStream().stream, { position: 8, mark: 1 });
  (await next()).give(8);
  await vi.advanceTimersByTimeAsync(1_000); // the first poll compares with nothing
  (await next()).give(8);
  expect(await endOf(watch.next(never))).toBe(true);
  await vi.advanceTimersByTimeAsync(3_000);
  expect([polls.count, reads.length, await endOf(watch.next(never))]).toEqual([4, 0, 'waits']);
  polls.position = 9;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(reads).toHaveLength(1);
  hub.stop();
  expect(vi.getTimerCount()).toBe(0);
});

test('after the stop nothing more is read, and what a read in flight finds is not followed', async () => {
  const { db, next, reads } = manualDatabase();
  const hub = createHub({ db, cell: null, onError: () => {} });
  const account = { id: 'acct_1', uuid: 'u1' };
  hub.join(account, createStream().stream, { position: 8, mark: 1 });
  const inFlight = await next();
  hub.stop();
  inFlight.give(10);
  hub.wake();
  await new Promise((resolve) => setImmediate(resolve));
  expect(reads).toEqual([]);
});

test('a signal wakes the readers of its account, and one of no account in particular those of all', async () => {
  const { db, reads } = manualDatabase();
  const hub = createHub({ db, cell: null, onError: () => {} });
  const watches = ['u1', 'u2'].map((uuid) => hub.watch({ id: uuid, uuid }));
  const waiting = watches.map((watch) => watch.next(never));
  hub.wake('u3');
  hub.wake('u1');
  expect(await Promise.all(waiting.map(endOf))).toEqual([true, 'waits']);
  hub.wake();
  expect(await waiting[1]).toBe(true);
  expect(reads).toEqual([]); // there is no stream to read for
  for (const watch of watches) watch.close();
  expect(hub.hasReaders()).toBe(false);
  hub.stop();
});
