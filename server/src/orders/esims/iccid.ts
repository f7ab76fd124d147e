import { crc32 } from 'node:zlib';
import { withCheckDigit } from '@simplane/contract';
import type { Cell } from '../../platform/cell.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { IccidStock } from '../executions/runner.ts';
import type { IccidRange } from './iccid-ranges.ts';
import { findIccidsInUse, nextIccidBlock, storeReturned, takeFromRange, takeSuspects } from './sql/iccids.ts';

export type IccidSource = {
  /** Returns `count` ICCIDs, or fewer if not enough are left. */
  allot(db: Queryable, count: number): Promise<string[]>;
  /** Null if ICCIDs must not be taken before it is known that they are needed. */
  stock: IccidStock | null;
  /** Returns an ICCID that no network has used; null if unused ones cost nothing. */
  giveBack: GiveBack | null;
};

/** A `suspect` ICCID is assigned again only if no other is left. */
type GiveBack = (db: Queryable, iccid: string, state: 'free' | 'suspect') => Promise<void>;

/** ICCIDs from the operator's ranges, or else sandbox ICCIDs. None is allotted twice unless it was given back. */
export function createIccidSource(
  ranges: readonly IccidRange[] | null = null,
  cell: Cell = null,
): IccidSource {
  if (ranges) return { allot: allotFromRanges(ranges), stock: null, giveBack: storeReturned };
  const allot = allotForSandbox(firstSerialOf(cell));
  return { allot, stock: createStock(allot), giveBack: null };
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

/** A sandbox of a cell has ten million numbers of its own, so that accounts can move between cells. */
export function firstSerialOf(cell: Cell): number {
  return cell === null ? 0 : (1 + (crc32(cell) % 9_999)) * 10_000_000;
}

/** Blocks come from a sequence. The unused rest of a process's block is lost: sandbox ICCIDs cost nothing. */
function allotForSandbox(first: number): AllotIccids {
  let next = 0;
  let end = 0;
  return async (db, count) => {
    const iccids: string[] = [];
    while (iccids.length < count) {
      if (next === end) {
        const block = await nextIccidBlock(db);
        // A concurrent call may have fetched a block meanwhile: the rest of that block is lost.
        next = first + block * blockSize;
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
    const takeUnused = async (take: (missing: number) => Promise<string[]>) => {
      while (iccids.length < count) {
        const taken = await take(count - iccids.length);
        if (taken.length === 0) break; // used up
        const inUse = await findIccidsInUse(db, taken);
        iccids.push(...taken.filter((iccid) => !inUse.has(iccid)));
      }
    };
    for (const range of ranges) {
      await takeUnused(async (missing) => {
        const { start, end, returned } = await takeFromRange(db, { ...range, ...boundsOf(range) }, missing);
        return [...returned, ...Array.from({ length: end - start }, (_, at) => numberAt(range, start + at))];
      });
    }
    for (const range of ranges) await takeUnused((missing) => takeSuspects(db, boundsOf(range), missing));
    return iccids;
  };
}

/** The first and the last ICCID. */
export function boundsOf(range: IccidRange) {
  return { lowest: numberAt(range, 0), highest: numberAt(range, range.size - 1) };
}

function numberAt({ first }: IccidRange, offset: number): string {
  return withCheckDigit(String(BigInt(first) + BigInt(offset)));
}
