import { decodeId, encodeId, type IdPrefix } from '@simplane/contract';

/** A uuid as text for PostgreSQL, where dashes are optional. */
export function uuidText(uuid: Uint8Array): string {
  return Buffer.from(uuid.buffer, uuid.byteOffset, uuid.byteLength).toString('hex');
}

/** The uuid of an id, or null if the text is not an id of this kind. */
export function uuidOfId(prefix: IdPrefix, id: string): string | null {
  const uuid = decodeId(prefix, id);
  return uuid && uuidText(uuid);
}

export function idOfUuid(prefix: IdPrefix, uuid: string): string {
  writeUuid(scratch, uuid, 0);
  return encodeId(prefix, scratch);
}

const scratch = new Uint8Array(16);

/** Parses a uuid with or without dashes. Digit by digit, because with a buffer an id took 1.2 µs instead of 0.4. */
export function writeUuid(into: Uint8Array, uuid: string, at: number): void {
  let end = at;
  for (let i = 0; i < uuid.length; i += 2) {
    if (uuid.charCodeAt(i) === dash) i += 1;
    into[end++] = (digitOf(uuid, i) << 4) | digitOf(uuid, i + 1);
  }
  if (end - at !== 16) throw new Error('a uuid must have 32 digits');
}

const dash = '-'.charCodeAt(0);

const digits = new Uint8Array(128);
for (const [index, digit] of [...'0123456789abcdef0123456789ABCDEF'].entries()) {
  digits[digit.charCodeAt(0)] = index % 16;
}

function digitOf(text: string, index: number): number {
  return digits[text.charCodeAt(index)] as number;
}
