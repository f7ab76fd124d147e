import { writeUuid } from '../ids/uuid.ts';

type ElementType<Value> = {
  oid: number;
  size(value: Value): number;
  write(into: Buffer, value: Value, at: number): void;
};

const headerBytes = 20;

/**
 * Encodes an array in PostgreSQL's binary format, for statements that take many rows. `pg` would send it as text and
 * quote every element, and PostgreSQL would have to parse that.
 */
function encode<Value>({ oid, size, write }: ElementType<Value>, values: (Value | null)[]): Buffer {
  let total = headerBytes + 4 * values.length;
  for (const value of values) if (value !== null) total += size(value);
  const bytes = Buffer.allocUnsafe(total);
  bytes.writeInt32BE(1, 0); // dimensions
  bytes.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  bytes.writeInt32BE(oid, 8);
  bytes.writeInt32BE(values.length, 12);
  bytes.writeInt32BE(1, 16); // lower bound
  let at = headerBytes;
  for (const value of values) {
    const length = value === null ? -1 : size(value);
    bytes.writeInt32BE(length, at);
    at += 4;
    if (value === null) continue;
    write(bytes, value, at);
    at += length;
  }
  return bytes;
}

function arrayOf<Value>(type: ElementType<Value>) {
  return (values: (Value | null)[]): Buffer => encode(type, values);
}

/** Takes hexadecimal text, with or without dashes. */
export const uuids = arrayOf<string>({
  oid: 2950,
  size: () => 16,
  write: writeUuid,
});

export const texts = arrayOf<string>({
  oid: 25,
  size: (text) => Buffer.byteLength(text),
  write: (into, text, at) => void into.write(text, at),
});

/** Takes hexadecimal text. */
export const byteStrings = arrayOf<string>({
  oid: 17,
  size: (hex) => hex.length / 2,
  write: (into, hex, at) => void into.write(hex, at, 'hex'),
});

export const booleans = arrayOf<boolean>({
  oid: 16,
  size: () => 1,
  write: (into, value, at) => void into.writeInt8(value ? 1 : 0, at),
});

export const integers = arrayOf<number>({
  oid: 23,
  size: () => 4,
  write: (into, value, at) => void into.writeInt32BE(value, at),
});

/** Safe integers only. */
export const bigints = arrayOf<number>({
  oid: 20,
  size: () => 8,
  write: writeInt64,
});

const epochMs = Date.UTC(2000, 0, 1);

/** Microseconds since 2000: exact below 2^53. */
export const timestamps = arrayOf<Date>({
  oid: 1184,
  size: () => 8,
  write: (into, time, at) => writeInt64(into, (time.getTime() - epochMs) * 1_000, at),
});

/** Written as two halves, which avoids a BigInt per element. */
function writeInt64(into: Buffer, value: number, at: number): void {
  const high = Math.floor(value / 2 ** 32);
  into.writeInt32BE(high, at);
  into.writeUInt32BE(value - high * 2 ** 32, at + 4);
}
