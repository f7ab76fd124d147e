import { withCheckDigit } from '@simplane/contract';
import type { IccidRange } from '../config/iccid-ranges.ts';
import type { Queryable } from '../db/database.ts';
import { findIccidsInUse, nextIccidBlock, takeFromRange } from './sql.ts';

/** As many numbers as are wanted, or fewer when no more are left. */
export type AllotIccids = (db: Queryable, count: number) => Promise<string[]>;

/** ICCIDs that no process ever allots twice: from the operator's ranges, or the sandbox's own. */
export function createIccidAllotter(ranges: readonly IccidRange[] | null = null): AllotIccids {
  return ranges ? allotFromRanges(ranges) : allotForSandbox();
}

// 89 for telecom, then a country code that is not assigned: these numbers can be mistaken for nobody's.
const sandboxPrefix = '8999901';
const blockSize = 1_000;
const serialDigits = 11;

/** Blocks come from a sequence, and what a process leaves of one is lost: numbers cost nothing here. */
function allotForSandbox(): AllotIccids {
  let next = 0;
  let end = 0;
  return async (db, count) => {
    const iccids: string[] = [];
    while (iccids.length < count) {
      if (next === end) {
        const block = await nextIccidBlock(db);
        // Another call may have brought a block while this one waited: the rest of that one is given up.
        next = block * blockSize;
        end = next + blockSize;
      }
      iccids.push(withCheckDigit(sandboxPrefix + String(next++).padStart(serialDigits, '0')));
    }
    return iccids;
  };
}

/**
 * One by one, since behind each number of an operator may be a profile that was paid for. A number that an eSIM has
 * already (from before the range was set, or from ranges that were drawn anew) is passed over.
 */
function allotFromRanges(ranges: readonly IccidRange[]): AllotIccids {
  return async (db, count) => {
    const iccids: string[] = [];
    for (const range of ranges) {
      while (iccids.length < count) {
        const { start, end } = await takeFromRange(db, range, count - iccids.length);
        if (start === end) break; // used up
        const taken = Array.from({ length: end - start }, (_, index) => numberAt(range, start + index));
        const inUse = await findIccidsInUse(db, taken);
        iccids.push(...taken.filter((iccid) => !inUse.has(iccid)));
      }
    }
    return iccids;
  };
}

function numberAt({ first }: IccidRange, offset: number): string {
  return withCheckDigit(String(BigInt(first) + BigInt(offset)));
}
