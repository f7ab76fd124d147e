import luhn from 'luhn';
import { expect, test } from 'vitest';
import { createIccidSource } from '../../src/orders/esims/iccid.ts';
import { parseIccidRanges } from '../../src/orders/esims/iccid-ranges.ts';
import { storeReturned } from '../../src/orders/esims/sql/iccids.ts';
import { provision } from '../support/client.ts';
import { startService } from '../support/service.ts';

test('100,000 ICCIDs from four processes that each restart are unique and valid', async () => {
  const service = await startService();
  try {
    const seen = new Set<string>();
    const starts = Array.from({ length: 8 }, () => createIccidSource().allot);
    for (let round = 0; round < 2; round++) {
      // Four at a time, interleaved; the second four are the first four after a restart.
      const allotters = starts.slice(round * 4, round * 4 + 4);
      const batches = await Promise.all(
        allotters.flatMap((allot) => Array.from({ length: 25 }, () => allot(service.db, 500))),
      );
      for (const iccid of batches.flat()) seen.add(iccid);
    }
    expect(seen.size).toBe(100_000);
    for (const iccid of seen) {
      if (!/^89\d{17}$/.test(iccid) || !luhn.validate(iccid)) throw new Error(`${iccid} is not an ICCID`);
    }
  } finally {
    await service.stop();
  }
});

test('four processes that need more numbers than an operator’s range has use each number exactly once', async () => {
  const service = await startService();
  try {
    const ranges = parseIccidRanges('898830300000123');
    const allotters = Array.from({ length: 4 }, () => createIccidSource(ranges).allot);
    const batches = await Promise.all(
      allotters.flatMap((allot) => Array.from({ length: 11 }, () => allot(service.db, 30))),
    );
    const allotted = batches.flat();
    expect([allotted.length, new Set(allotted).size]).toEqual([1_000, 1_000]);
    for (const iccid of allotted) expect(iccid).toMatch(/^898830300000123\d{4}$/);
    // A used-up range stays used up for later processes; a larger range continues where it ended.
    expect(await createIccidSource(ranges).allot(service.db, 1)).toEqual([]);
    const wider = [{ first: '898830300000123000', size: 1_002 }];
    expect(await createIccidSource(wider).allot(service.db, 5)).toEqual([
      '8988303000001240003',
      '8988303000001240011',
    ]);
  } finally {
    await service.stop();
  }
});

test('a range gives out its own returned numbers only, the one that was returned first before the others', async () => {
  const service = await startService();
  try {
    const { allot } = createIccidSource(parseIccidRanges('898830300000123'));
    const [first, second] = (await allot(service.db, 2)) as [string, string];
    for (const iccid of ['8988404000001230004', second, first]) {
      await storeReturned(service.db, iccid, 'free');
    }
    expect(await allot(service.db, 1)).toEqual([second]);
    expect(await allot(service.db, 1)).toEqual([first]);
    expect(await allot(service.db, 1)).toEqual([expect.stringMatching(/^898830300000123002/)]);
  } finally {
    await service.stop();
  }
});

test('a range that was shortened and then extended again gives no number out twice, and none beyond its end', async () => {
  const service = await startService();
  try {
    const ranged = (size: number) => createIccidSource([{ first: '898830300000123000', size }]);
    const before = await ranged(1_000).allot(service.db, 10);
    expect(await ranged(5).allot(service.db, 1)).toEqual([]);
    const after = await ranged(1_000).allot(service.db, 10);
    expect(new Set([...before, ...after]).size).toBe(20);
    // Nor one beyond its end, even if the first order needs more than it has.
    const small = createIccidSource([{ first: '898830300000456000', size: 5 }]);
    expect(await small.allot(service.db, 7)).toHaveLength(5);
    // Nor one that an open order has from elsewhere.
    const taken = createIccidSource([{ first: '898830300000789000', size: 3 }]);
    await provision(service);
    await service.db.pool.query(`update execution_queue set iccid = '8988303000007890017'`);
    expect(await taken.allot(service.db, 3)).toEqual(['8988303000007890009', '8988303000007890025']);
  } finally {
    await service.stop();
  }
});

test('a number that an eSIM has already is replaced by the next one, so that no order is left without', async () => {
  const service = await startService();
  try {
    const { allot } = createIccidSource([{ first: '898830300000123000', size: 4 }]);
    await provision(service);
    await service.db.pool.query(`update execution_queue set iccid = '8988303000001230012'`);
    expect(await allot(service.db, 3)).toEqual([
      '8988303000001230004',
      '8988303000001230020',
      '8988303000001230038',
    ]);
  } finally {
    await service.stop();
  }
});

test('a suspect number is used when no other is left, if a present range has it, the one that has waited longest first', async () => {
  const service = await startService();
  try {
    const { allot } = createIccidSource([{ first: '898830300000123000', size: 4 }]);
    const [first, second, third] = (await allot(service.db, 3)) as [string, string, string];
    for (const iccid of ['8988404000001230004', second, first]) {
      await storeReturned(service.db, iccid, 'suspect');
    }
    await storeReturned(service.db, third, 'free');
    // Returned once more: it stays as it was.
    await storeReturned(service.db, third, 'suspect');
    const fourth = '8988303000001230038';
    for (const iccid of [third, fourth, second]) expect(await allot(service.db, 1)).toEqual([iccid]);
    expect(await allot(service.db, 5)).toEqual([first]);
  } finally {
    await service.stop();
  }
});

test('an order does not wait for returned numbers that another one is taking', async () => {
  const service = await startService();
  try {
    const { allot } = createIccidSource([{ first: '898830300000123000', size: 3 }]);
    const [free, suspect] = (await allot(service.db, 2)) as [string, string];
    await storeReturned(service.db, free, 'free');
    await storeReturned(service.db, suspect, 'suspect');
    await service.db.transaction(async (tx) => {
      await tx.query({ name: 'test_hold_numbers', text: 'select from returned_iccids for update' });
      const taken = await service.db.transaction(async (other) => {
        await other.query({ name: 'test_lock_timeout', text: `set local lock_timeout = '1s'` });
        return allot(other, 3);
      });
      expect(taken).toEqual(['8988303000001230020']);
    });
    expect(await allot(service.db, 3)).toEqual([free, suspect]);
  } finally {
    await service.stop();
  }
});
