import { hash } from 'node:crypto';
import { AppError } from '../app-error.ts';
import { type Cell, withLabel, withoutLabel } from '../cell.ts';

/** What a cursor is valid for: it cannot be used with another list, other filters or another account. */
export type ListScope = { list: string; accountId: string; filters: Record<string, unknown> };

const checksumBytes = 6;
const separator = '\n';

/** base64url of checksum + list + filters' hash + position. The checksum covers the account, which is not in the cursor. */
export function encodeCursor(scope: ListScope, position: string): string {
  const text = [scope.list, filtersHash(scope), position].join(separator);
  return Buffer.concat([checksum(scope, text), Buffer.from(text)]).toString('base64url');
}

/** What a cell answers: if it is a page, its cursor has the cell's label. The label may be another's after a move, and is not checked. */
export function labelCursor(cell: Cell, answer: object & { next_cursor?: string }): object {
  const { next_cursor: cursor } = answer;
  return cell === null || cursor === undefined ? answer : { ...answer, next_cursor: withLabel(cell, cursor) };
}

/** The position in a cursor. Throws if the cursor was changed or belongs to another scope. */
export function decodeCursor(scope: ListScope, given: string, positionPattern: RegExp): string {
  const cursor = withoutLabel(given);
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.subarray(checksumBytes).toString();
  const [list, filters, position] = text.split(separator);
  const canonical = bytes.toString('base64url') === cursor;
  if (canonical && position !== undefined && list !== scope.list && /^[a-z_]+$/.test(list ?? '')) {
    throw invalidCursor(`it belongs to the list of ${list}, not to the list of ${scope.list}`);
  }
  if (canonical && position !== undefined && filters !== filtersHash(scope)) {
    throw invalidCursor('it was made with other filters');
  }
  if (
    !canonical ||
    position === undefined ||
    list !== scope.list ||
    !bytes.subarray(0, checksumBytes).equals(checksum(scope, text))
  ) {
    throw invalidCursor('it was changed, truncated, or made for another account');
  }
  if (!positionPattern.test(position)) throw invalidCursor('it was changed');
  return position;
}

function invalidCursor(why: string): AppError {
  return new AppError(
    'cursor_invalid',
    `starting_after is not a cursor of this list: ${why}. Pass the last next_cursor unchanged, or omit it to start again.`,
    { param: 'starting_after' },
  );
}

function filtersHash({ filters }: ListScope): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  return hash('sha256', JSON.stringify(given.sort()), 'base64url').slice(0, 8);
}

function checksum({ accountId }: ListScope, text: string): Buffer {
  return hash('sha256', `${accountId}${separator}${text}`, 'buffer').subarray(0, checksumBytes);
}
