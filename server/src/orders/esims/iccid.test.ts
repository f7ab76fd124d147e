import { expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import { createIccidSource, firstSerialOf } from './iccid.ts';

/** Answers statements by their name, and notes which ran. */
function answering(answers: Record<string, (values: unknown[]) => object[]>) {
  const seen: string[] = [];
  const db = {
    async query({ name }: { name: string }, values: unknown[] = []) {
      seen.push(name);
      return answers[name]?.(values) ?? [];
    },
  } as unknown as Queryable;
  return { db, seen };
}

/** The sequence of the sandbox's blocks. */
function startBlocks() {
  let block = 4;
  return answering({ iccid_block: () => [{ block: block++ }] });
}

const serials = (iccids: string[]) => iccids.map((iccid) => Number(iccid.slice(7, -1)));

test('a process takes a thousand sandbox numbers at a time, and a cell has numbers of its own', async () => {
  const { db, seen } = startBlocks();
  const { allot } = createIccidSource();
  expect(serials(await allot(db, 1_000)).at(-1)).toBe(4_999);
  expect(seen).toHaveLength(1);
  expect(serials(await allot(db, 2))).toEqual([5_000, 5_001]);
  expect(seen).toHaveLength(2);
  const ofCell = createIccidSource(null, 'eu1');
  expect(serials(await ofCell.allot(startBlocks().db, 1))).toEqual([firstSerialOf('eu1') + 4_000]);
  expect(firstSerialOf('eu1') % 10_000_000).toBe(0);
  expect([firstSerialOf(null), firstSerialOf('eu1') > 0]).toEqual([0, true]);
});

test('of sandbox numbers, those that were not needed are used first, in their order', async () => {
  const { stock } = createIccidSource();
  const { db } = startBlocks();
  const first = (await stock?.take(db, 3)) ?? [];
  stock?.giveBack(first.slice(1));
  stock?.giveBack(first.slice(0, 1));
  expect(await stock?.take(db, 2)).toEqual(first.slice(0, 2));
  expect(serials((await stock?.take(db, 2)) ?? [])).toEqual([4_002, 4_003]);
});

test('a number that the network objected to is used only when no range has another', async () => {
  const ranges = [
    { first: '898830300000000000', size: 1 },
    { first: '898830400000000000', size: 1 },
  ];
  const taken = new Set<unknown>();
  const { db } = answering({
    iccid_range_take: ([first, count]) => {
      const isUsed = first === ranges[0]?.first || taken.has(first);
      taken.add(first);
      return [{ start: 0, end: isUsed ? 0 : Math.min(1, Number(count)), returned: [] }];
    },
    iccid_take_suspects: () => [{ iccid: 'suspect' }],
  });
  const { allot, stock } = createIccidSource(ranges);
  expect(await allot(db, 1)).toEqual([expect.stringMatching(/^8988304/)]);
  expect(await allot(db, 1)).toEqual(['suspect']);
  // An operator may have paid for each, so none is taken before it is needed.
  expect(stock).toBeNull();
});
