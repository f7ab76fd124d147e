import type { Cell } from '../cell.ts';

/** Another cell, as the operator has named it. The key is an operator's key of that cell. */
export type Peer = { cell: Cell; origin: string; key: string };
