import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** The usage records of an eSIM add up to what its bundles count, what no bundle covers and what was late. */
export function usageAddsUp({ books }: History): Violation[] {
  return books.unbalanced.map(({ iccid, recorded, counted }) => ({
    about: [iccid],
    what: `the usage records have ${recorded} bytes, but ${counted} are counted`,
  }));
}

/** No byte counts on a bundle that does not cover the country of its record. */
export function noByteOnAForeignBundle({ books }: History): Violation[] {
  return books.foreign.map(({ iccid, record_id, country }) => ({
    about: [iccid, record_id],
    what: `usage in ${country} is counted on a bundle that does not cover it`,
  }));
}
