import luhn from 'luhn';
import { expect, test } from 'vitest';
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
