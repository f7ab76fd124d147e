import luhn from 'luhn';
import { expect, test } from 'vitest';
import { parseIccidRanges } from '../../src/config/iccid-ranges.ts';
import { createIccidAllotter } from '../../src/esims/iccid.ts';
import { startService } from '../support/service.ts';

test('a hundred thousand ICCIDs, from four processes that each restart, are all different and all valid', async () => {
  const service = await startService();
  try {
    const seen = new Set<string>();
    const lives = Array.from({ length: 8 }, () => createIccidAllotter());
    for (let round = 0; round < 2; round++) {
      // Four at a time, interleaved; the second four are the first four's next lives.
      const allotters = lives.slice(round * 4, round * 4 + 4);
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

test('an operator’s range is given out to its last number, each once, by four processes that ask for more than it has', async () => {
  const service = await startService();
  try {
    const ranges = parseIccidRanges('898830300000123');
    const allotters = Array.from({ length: 4 }, () => createIccidAllotter(ranges));
    const batches = await Promise.all(
      allotters.flatMap((allot) => Array.from({ length: 11 }, () => allot(service.db, 30))),
    );
    const given = batches.flat();
    expect([given.length, new Set(given).size]).toEqual([1_000, 1_000]);
    for (const iccid of given) expect(iccid).toMatch(/^898830300000123\d{4}$/);
    // Used up is used up, for a process that starts later too; more room goes on where it ended.
    expect(await createIccidAllotter(ranges)(service.db, 1)).toEqual([]);
    const wider = [{ first: '898830300000123000', size: 1_002 }];
    expect(await createIccidAllotter(wider)(service.db, 5)).toEqual([
      '8988303000001240003',
      '8988303000001240011',
    ]);
  } finally {
    await service.stop();
  }
});
