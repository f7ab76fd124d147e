import { crc32, inflateSync } from 'node:zlib';
import { maxLogoSide } from '@simplane/contract';
import { type AppError, invalid } from '../../platform/app-error.ts';

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const kept = ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'];

/** Samples per pixel, by color type (ISO/IEC 15948 §11.2.2). */
const samplesOf: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

type Chunk = { type: string; data: Buffer; bytes: Buffer };

/**
 * The picture alone: without text, positions, animation, color profiles and whatever follows its end. The pixels are unpacked once to see
 * that they are there, and no more of them than the header says.
 */
export function cleanPng(bytes: Buffer): Buffer {
  if (!bytes.subarray(0, 8).equals(signature)) throw refuse('is not a PNG picture');
  const chunks = readChunks(bytes).filter(({ type }) => kept.includes(type));
  const pixels = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
  checkPixels(pixels, sizeOf(chunks[0]));
  return Buffer.concat([signature, ...chunks.map((chunk) => chunk.bytes)]);
}

/** Up to the end of the picture. */
function readChunks(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = signature.length; chunks.at(-1)?.type !== 'IEND'; ) {
    const length = at + 12 <= bytes.length ? bytes.readUInt32BE(at) : bytes.length;
    const end = at + 12 + length;
    if (end > bytes.length) throw refuse('ends before the picture does');
    const typed = bytes.subarray(at + 4, end - 4);
    if (crc32(typed) !== bytes.readUInt32BE(end - 4)) throw refuse('is damaged');
    chunks.push({
      type: typed.toString('latin1', 0, 4),
      data: typed.subarray(4),
      bytes: bytes.subarray(at, end),
    });
    at = end;
  }
  return chunks;
}

/** How many bytes its pixels have. */
function sizeOf(header: Chunk | undefined): number {
  if (header?.type !== 'IHDR' || header.data.length !== 13) throw refuse('has no header');
  const { data } = header;
  const [width, height, depth] = [data.readUInt32BE(0), data.readUInt32BE(4), data.readUInt8(8)];
  const samples = samplesOf[data.readUInt8(9)];
  if (width < 1 || height < 1 || width > maxLogoSide || height > maxLogoSide) {
    throw refuse(`is ${width} by ${height} pixels; at most ${maxLogoSide} a side are allowed`);
  }
  if (samples === undefined || ![1, 2, 4, 8, 16].includes(depth))
    throw refuse('has an unknown kind of pixels');
  if (data.readUInt8(12) !== 0) throw refuse('is interlaced; save it without interlacing');
  // Each line begins with the number of its filter.
  return height * (1 + Math.ceil((width * samples * depth) / 8));
}

function checkPixels(packed: Buffer, expectedBytes: number): void {
  let unpackedBytes = -1;
  try {
    unpackedBytes = inflateSync(packed, { maxOutputLength: expectedBytes }).length;
  } catch {
    // Damaged, or larger than the header says.
  }
  if (unpackedBytes !== expectedBytes) throw refuse('is damaged');
}

function refuse(reason: string): AppError {
  return invalid('logo', `The logo ${reason}.`);
}
