import type { OperatorOverview } from '@simplane/sdk';

export type AskedCells = NonNullable<OperatorOverview['cells']>;

const why: Record<NonNullable<AskedCells[number]['cause']>, string> = {
  timeout: 'no answer in time',
  unreachable: 'it cannot be reached',
  key_refused: 'it refused the key in SIMPLANE_CELLS',
  failed: 'it answered with an error',
  invalid_answer: 'its answer cannot be read',
};

export function nameOfCell(cell: string | null): string {
  return cell === null ? 'the cell without a label' : `the cell “${cell}”`;
}

/** Which cells did not answer, so that nobody takes what some have for what all have. Null if every cell did. */
export function describeMissing(cells: AskedCells | undefined): string | null {
  const missing = (cells ?? []).filter(({ answered }) => !answered);
  if (missing.length === 0) return null;
  const named = missing.map(({ cell, cause }) => nameOfCell(cell) + (cause ? ` (${why[cause]})` : ''));
  return `No answer from ${named.join(', ')}.`;
}
