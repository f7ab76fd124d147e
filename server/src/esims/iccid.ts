import { withCheckDigit } from '@simplane/contract';
import type { IccidRange } from '../config/iccid-ranges.ts';
import type { Queryable } from '../db/database.ts';
import type { IccidStock } from '../executions/worker.ts';
import { findIccidsInUse } from './sql/find-iccids-in-use.ts';
import { nextIccidBlock } from './sql/next-iccid-block.ts';
import { takeFromRange } from './sql/take-from-range.ts';

export type IccidSource = {
  /** Returns `count` ICCIDs, or fewer if not enough are left. */
  allot(db: Queryable, count: number): Promise<string[]>;
  /** Null if ICCIDs must not be taken before it is known that they are needed. */
  stock: IccidStock | null;
};

/** ICCIDs from the operator's ranges, or else sandbox ICCIDs. No process ever allots one twice. */
export function createIccidSource(ranges: readonly IccidRange[] | null = null): IccidSource {
  if (ranges) return { allot: allotFromRanges(ranges), stock: null };
  const allot = allotForSandbox();
  return { allot, stock: createStock(allot) };
}

type AllotIccids = IccidSource['allot'];

function createStock(allot: AllotIccids): IccidStock {
  let spare: string[] = [];
  return {
    async take(db, count) {
      const taken = spare.splice(0, count);
      return taken.length < count ? [...taken, ...(await allot(db, count - taken.length))] : taken;
    },
    giveBack(iccids) {
      spare = [...iccids, ...spare];
    },
  };
}

// 89 for telecom, then an unassigned country code, so these ICCIDs belong to no operator.
const sandboxPrefix = '8999901';
const blockSize = 1_000;
const serialDigits = 11;

/** Blocks come from a sequence. The unused rest of a process's block is lost: sandbox ICCIDs cost nothing. */
function allotForSandbox(): AllotIccids {
  let next = 0;
  let end = 0;
  return async (db, count) => {
    const iccids: string[] = [];
    while (iccids.length < count) {
      if (next === end) {
        const block = await nextIccidBlock(db);
        // A concurrent call may have fetched a block meanwhile: the rest of that block is lost.
        next = block * blockSize;
        end = next + blockSize;
      }
      iccids.push(withCheckDigit(sandboxPrefix + String(next++).padStart(serialDigits, '0')));
    }
    return iccids;
  };
}

/**
 * Loses no ICCID, since the operator may have paid for a profile behind each one. Skips ICCIDs that an eSIM already has,
 * from before the range was set or from earlier ranges.
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
