import { crc32, deflateSync } from 'node:zlib';

export const pixelsPerModule = 8;

/**
 * Encodes black and white modules as a PNG with one bit per pixel (ISO/IEC 15948). With 8 pixels per module, each module
 * is exactly one byte of a line.
 */
export function encodePng(rows: readonly (readonly boolean[])[]): Buffer {
  const header = Buffer.alloc(13); // zero bytes mean grayscale, deflate, adaptive filters, not interlaced
  header.writeUInt32BE((rows[0]?.length ?? 0) * pixelsPerModule, 0);
  header.writeUInt32BE(rows.length * pixelsPerModule, 4);
  header.writeUInt8(1, 8); // bit depth
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows.flatMap(linesOf)))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

function linesOf(row: readonly boolean[]): Buffer[] {
  const line = Buffer.from([0, ...row.map((isDark) => (isDark ? 0x00 : 0xff))]); // 0: the line is not filtered
  return Array.from({ length: pixelsPerModule }, () => line);
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
