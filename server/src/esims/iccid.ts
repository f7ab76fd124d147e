import type { Queryable } from '../db/database.ts';
import { nextIccidBlock } from './sql.ts';

// 89 for telecom, then a country code that is not assigned: these numbers can be mistaken for nobody's.
const sandboxPrefix = '8999901';
const blockSize = 1_000;
const serialDigits = 11;

export type AllotIccids = (db: Queryable, count: number) => Promise<string[]>;

/** ICCIDs that no process ever allots twice: blocks come from a sequence, and what a process leaves of one is lost. */
export function createIccidAllotter(prefix = sandboxPrefix): AllotIccids {
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
      iccids.push(withCheckDigit(prefix + String(next++).padStart(serialDigits, '0')));
    }
    return iccids;
  };
}

/** Luhn (ISO/IEC 7812-1 annex B), as ITU-T E.118 has it for ICCIDs. */
function withCheckDigit(digits: string): string {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 0 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits + String((10 - (sum % 10)) % 10);
}
