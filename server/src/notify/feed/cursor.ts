import { hash } from 'node:crypto';
import { AppError } from '../../platform/app-error.ts';
import { type Cell, withLabel, withoutLabel } from '../../platform/cell.ts';

/** A place in an account's feed: after `position`. `mark` belongs to the position; 0 before the first event. */
export type Place = { position: number; mark: number };

export const beginning: Place = { position: 0, mark: 0 };

/** Whose feed it is, and the cell that gives a cursor out. */
export type CursorOwner = { account: { id: string }; cell: Cell };

const checksumBytes = 6;

/** base64url of checksum + position + mark. The checksum covers the account, which is not in the cursor; not the label, which a move changes. */
export function encodePlace({ account, cell }: CursorOwner, { position, mark }: Place): string {
  const bytes = Buffer.alloc(checksumBytes + 12);
  bytes.writeBigInt64BE(BigInt(position), checksumBytes);
  bytes.writeUInt32BE(mark, checksumBytes + 8);
  checksum(account.id, bytes.subarray(checksumBytes)).copy(bytes);
  return withLabel(cell, bytes.toString('base64url'));
}

/** Throws if the cursor was changed or belongs to another account. `param` is where it was sent. */
export function decodePlace(accountId: string, given: string, param: string): Place {
  const cursor = withoutLabel(given);
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.subarray(checksumBytes);
  const isCursor =
    bytes.length === checksumBytes + 12 &&
    bytes.toString('base64url') === cursor &&
    bytes.subarray(0, checksumBytes).equals(checksum(accountId, text));
  if (!isCursor) {
    throw new AppError(
      'cursor_invalid',
      `${param} is not a cursor of this feed. Send the last cursor unchanged, or "start" or "now".`,
      { param },
    );
  }
  return { position: Number(text.readBigInt64BE(0)), mark: text.readUInt32BE(8) };
}

function checksum(accountId: string, text: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([Buffer.from(`feed\n${accountId}\n`), text]), 'buffer').subarray(
    0,
    checksumBytes,
  );
}
