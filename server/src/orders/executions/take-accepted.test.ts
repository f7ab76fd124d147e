import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import type { ClaimedExecution } from './sql/queue.ts';
import { createSeatSource } from './take-accepted.ts';

let isPaused: boolean;
let places: number;
let ran: string[];
let batches: string[][];
let spare: string[];
let unprepared: string[];
let answers: (() => unknown[])[];
let woken: number;
let isDown: boolean;
let errors: unknown[];

beforeEach(() => {
  isPaused = false;
  places = 2;
  ran = [];
  batches = [];
  spare = ['1', '2', '3'];
  unprepared = [];
  answers = [];
  woken = 0;
  isDown = false;
  errors = [];
});
afterEach(() => void vi.useRealTimers());

const asked: unknown[][] = [];

function whileUp<T>(answer: () => T): T {
  if (isDown) throw new Error('down');
  return answer();
}

function source(hasStock = true) {
  asked.length = 0;
  const db = {
    async query(_: unknown, values: unknown[]) {
      asked.push(values);
      return (answers.shift() ?? (() => []))();
    },
  } as unknown as Queryable;
  return createSeatSource(
    { db: db as never, holder: 'me', leaseMs: 3_000, onError: (error) => void errors.push(error) },
    {
      breaker: { isPaused: () => isPaused },
      stock: hasStock
        ? {
            take: async () => whileUp(() => spare.splice(0, 1)),
            giveBack: (iccids) => void spare.unshift(...iccids),
          }
        : null,
      reserve() {
        if (places === 0) return null;
        places -= 1;
        const release = () => {
          places += 1;
        };
        return { run: ({ id }) => void ran.push(id), release };
      },
      async prepare(orders) {
        whileUp(() => batches.push(orders.map(({ id }) => id)));
        return orders.filter(({ id }) => !unprepared.includes(id));
      },
      wake() {
        woken += 1;
      },
    },
  );
}

const order = (id: string) => ({ id }) as ClaimedExecution;
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('there is a seat for each free place, with an ICCID if the worker has a stock, and none while the network is paused', async () => {
  const seat = source();
  expect(await seat()).toMatchObject({ holder: 'me', leaseMs: 3_000, iccid: '1' });
  isPaused = true;
  expect(await seat()).toBeNull();
  expect(places).toBe(1);
  isPaused = false;
  expect(await seat()).toMatchObject({ iccid: '2' });
  expect(await seat()).toBeNull();
  places = 1;
  expect(await source(false)()).toMatchObject({ iccid: null });
});

test('the orders of one commit are prepared together, and one that was given back leaves its place', async () => {
  unprepared = ['b'];
  const seat = source();
  const seats = [await seat(), await seat()];
  for (const [index, id] of ['a', 'b'].entries()) seats[index]?.run(order(id));
  await turn();
  expect(batches).toEqual([['a', 'b']]);
  expect(ran).toEqual(['a']);
  expect(places).toBe(1);
  (await seat())?.run(order('c'));
  await turn();
  expect(batches).toEqual([['a', 'b'], ['c']]);
});

test('a database that fails costs a worker no room: the seat has no ICCID, and what cannot be prepared leaves its place', async () => {
  isDown = true;
  const seat = await source()();
  expect(seat).toMatchObject({ iccid: null });
  seat?.run(order('a'));
  await turn();
  expect([ran, places, errors.length]).toEqual([[], 2, 2]);
});

test('a seat that is released returns its place and its ICCID', async () => {
  (await source()())?.release();
  expect([places, spare]).toEqual([2, ['1', '2', '3']]);
});

test('an abandoned order is made free once the database answers, and its ICCID is not used again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  answers = [
    () => {
      throw new Error('down');
    },
    () => [{}],
  ];
  (await source()())?.abandon({ accountUuid: 'acct', uuid: 'exec' });
  expect([places, spare]).toEqual([2, ['2', '3']]);
  await vi.advanceTimersByTimeAsync(999);
  expect([asked.length, woken]).toEqual([1, 0]);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toEqual([
    ['acct', 'exec', 'me'],
    ['acct', 'exec', 'me'],
  ]);
  expect(woken).toBe(1);
});

test('after the lease of an abandoned order has ended, it is left to a claim', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  answers = Array.from({ length: 10 }, () => () => {
    throw new Error('down');
  });
  (await source()())?.abandon({ accountUuid: 'acct', uuid: 'exec' });
  await vi.advanceTimersByTimeAsync(20_000);
  expect(asked).toHaveLength(3);
});
