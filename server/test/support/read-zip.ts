import { crc32, inflateRawSync } from 'node:zlib';

/** The files of a ZIP archive by name, found by its directory. Fails if a checksum or a header does not fit. */
export function readZip(bytes: Buffer): Map<string, Buffer> {
  const end = bytes.length - 22;
  if (bytes.readUInt32LE(end) !== 0x06054b50) throw new Error('no end of the directory');
  const files = new Map<string, Buffer>();
  let at = bytes.readUInt32LE(end + 16);
  if (at + bytes.readUInt32LE(end + 12) !== end) throw new Error('the directory has another size');
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    if (bytes.readUInt32LE(at) !== 0x02014b50) throw new Error('no entry in the directory');
    const nameLength = bytes.readUInt16LE(at + 28);
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength);
    const local = bytes.readUInt32LE(at + 42);
    if (bytes.readUInt32LE(local) !== 0x04034b50) throw new Error(`no header of ${name}`);
    if (!bytes.subarray(local + 4, local + 30).equals(bytes.subarray(at + 6, at + 32))) {
      throw new Error(`${name} has two different headers`);
    }
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const file = inflateRawSync(bytes.subarray(start, start + bytes.readUInt32LE(at + 20)));
    if (crc32(file) !== bytes.readUInt32LE(at + 16) || file.length !== bytes.readUInt32LE(at + 24)) {
      throw new Error(`${name} is damaged`);
    }
    files.set(name, file);
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return files;
}
