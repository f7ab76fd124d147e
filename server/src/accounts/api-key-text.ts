import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Cell, labelForm } from '../platform/cell.ts';

export type Mode = 'sandbox' | 'live';

export const keyPrefix = { sandbox: 'sp_test_', live: 'sp_live_' } as const;

/** A user-chosen key. It may be easy to guess, so it has a minimum length. */
export const sandboxKeyPattern = /^sp_test_[!-~]{16,192}$/;

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 32;
const checksumLength = 6;

/** Prefix, the cell's label, 32 random characters and a checksum over all, so that secret scanners have no false positives. */
export function generateApiKey(mode: Mode, cell: Cell = null): string {
  const random = Array.from({ length: randomLength }, () => base62[randomInt(base62.length)]).join('');
  const text = keyPrefix[mode] + (cell === null ? '' : `${cell}_`) + random;
  return text + checksum(text);
}

/** Only the hash is stored. The key has 190 random bits, so a plain hash is safe against brute force. */
export function hashApiKey(key: string): Buffer {
  return Buffer.from(hexHashOf(key), 'hex');
}

/** The same hash as text. Needed for every request; a buffer would cost more than twice as much. */
export function hexHashOf(key: string): string {
  return hash('sha256', key, 'hex');
}

const ownForm = new RegExp(`^sp_(?:test|live)_(?:(${labelForm})_)?[0-9A-Za-z]{38}$`);

export function hasValidChecksum(key: string): boolean {
  const text = key.slice(0, -checksumLength);
  return ownForm.test(key) && key.slice(-checksumLength) === checksum(text);
}

/** The label in a key that we generated. A key that a user chose may look as if it had one, but its checksum is wrong. */
export function cellOfKey(key: string): Cell {
  return hasValidChecksum(key) ? (ownForm.exec(key)?.[1] ?? null) : null;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < checksumLength; i++, rest = Math.floor(rest / 62))
    digits = base62.charAt(rest % 62) + digits;
  return digits;
}
