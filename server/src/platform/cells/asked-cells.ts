import type { AskedCells } from '@simplane/contract';
import type { Cell } from '../cell.ts';
import type { Answered } from './ask-cells.ts';

/** Says which cells an answer is of, so that nobody takes a part for the whole. */
export function askedCells(own: Cell, others: readonly Answered<unknown>[]): AskedCells {
  return [
    { cell: own, answered: true },
    ...others.map((other) =>
      'cause' in other
        ? { cell: other.cell, answered: false, cause: other.cause }
        : { cell: other.cell, answered: true },
    ),
  ];
}

/** What the cells that answered said, each with its label. */
export function answersIn<T>(others: readonly Answered<T>[]): { cell: Cell; answer: T }[] {
  return others.flatMap((other) => ('answer' in other ? [other] : []));
}

/** Whether an answer is of that cell: its address in `SIMPLANE_CELLS` may be another's. */
export function isOf(cell: Cell, { cells }: { cells?: AskedCells }): boolean {
  return cells?.length === 1 && cells[0]?.cell === cell;
}
