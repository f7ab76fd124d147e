import { crc32, deflateRawSync } from 'node:zlib';

type Entry = { name: string; bytes: Buffer };

const utf8Names = 0x0800;
const deflated = 8;
/** The first of January 1980, midnight: a time of our own would say nothing. */
const noTime = 0x0021_0000;

/** A ZIP archive (APPNOTE 6.3) with these files. Without ZIP64, so for less than 65,536 files and 4 GB. */
export function zipOf(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes } of entries) {
    const packed = deflateRawSync(bytes, { level: 1 });
    const fields = fieldsOf(name, bytes, packed);
    const local = Buffer.concat([numbers([0x0403_4b50, 4]), fields, Buffer.from(name), packed]);
    // The comment's length, the disk, and the attributes are zero.
    const rest = numbers([0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]);
    directory.push(numbers([0x0201_4b50, 4], [20, 2]), fields, rest, Buffer.from(name));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const count = entries.length;
  const end = numbers(
    [0x0605_4b50, 4],
    [0, 4],
    [count, 2],
    [count, 2],
    [list.length, 4],
    [offset, 4],
    [0, 2],
  );
  return Buffer.concat([...parts, list, end]);
}

/** What a file's own header and its entry in the directory have in common. */
function fieldsOf(name: string, bytes: Buffer, packed: Buffer): Buffer {
  return numbers(
    ...([
      [20, 2],
      [utf8Names, 2],
      [deflated, 2],
      [noTime, 4],
    ] as const),
    ...([
      [crc32(bytes), 4],
      [packed.length, 4],
      [bytes.length, 4],
    ] as const),
    ...([
      [Buffer.byteLength(name), 2],
      [0, 2],
    ] as const),
  );
}

function numbers(...fields: readonly (readonly [value: number, bytes: number])[]): Buffer {
  return Buffer.concat(
    fields.map(([value, bytes]) => {
      const field = Buffer.alloc(bytes);
      field.writeUIntLE(value, 0, bytes);
      return field;
    }),
  );
}
