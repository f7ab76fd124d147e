import { erasedEsims } from '../history/erased.ts';
import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** What was stored of the user of an eSIM that was erased is in no column of any table. */
export function erasedValuesAreGone(history: History): Violation[] {
  if (history.losesCommits) return [];
  return erasedEsims(history).flatMap(({ iccid, key, text }) =>
    (history.remaining.get(text) ?? []).map((table) => ({
      about: [iccid, key],
      what: `a value of an erased eSIM is still in ${table}`,
    })),
  );
}
