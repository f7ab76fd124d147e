import { AppError } from './app-error.ts';

/**
 * The label of a deployment that is one of several behind the same address (docs/cells.md). Null in one that stands alone, or that was
 * there before the others.
 */
export type Cell = string | null;

/** The form of a label, for patterns. */
export const labelForm = '[a-z]{2,8}';
export const cellPattern = new RegExp(`^${labelForm}$`);
const labelled = new RegExp(`^(${labelForm})\\.`);

/** Puts the label in front of a token, where a router can read it. */
export function withLabel(cell: Cell, token: string): string {
  return cell === null ? token : `${cell}.${token}`;
}

export function withoutLabel(token: string): string {
  return token.replace(labelled, '');
}

export function labelOf(token: string): Cell {
  return labelled.exec(token)?.[1] ?? null;
}

/** Throws if what was not found here names another cell. What came here with its account is found, whatever its label. */
export function requireOwnCell(own: Cell, label: Cell, what: string): void {
  if (label === null || label === own) return;
  throw new AppError(
    'wrong_cell',
    `${what} belongs to ${nameOf(label)}, and this is ${nameOf(own)}. Send the request there.`,
    { cell: label },
  );
}

export function nameOf(cell: Cell): string {
  return cell === null ? 'the cell without a label' : `the cell "${cell}"`;
}
