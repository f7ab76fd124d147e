import { crc32, deflateSync } from 'node:zlib';
import { encode } from 'uqr';

type Picture = { mediaType: 'image/png' | 'image/svg+xml'; bytes: Buffer };

/**
 * A QR code of exactly this text, with error correction M and the border of four light modules that ISO/IEC 18004 requires. Each form
 * is drawn when it is read: an archive of a thousand codes needs one of them.
 */
export function drawQr(text: string): { svg: Picture; png: Picture } {
  const { data: rows } = encode(text, { ecc: 'M', boostEcc: false, border: 4 });
  return {
    get svg(): Picture {
      return { mediaType: 'image/svg+xml', bytes: Buffer.from(svgOf(rows)) };
    },
    get png(): Picture {
      return { mediaType: 'image/png', bytes: encodePng(rows) };
    },
  };
}

export function dataUri({ mediaType, bytes }: Picture): string {
  return `data:${mediaType};base64,${bytes.toString('base64')}`;
}

/** Draws runs of dark modules: one rectangle per module would show hairlines between them when scaled. */
function svgOf(rows: readonly (readonly boolean[])[]): string {
  const size = rows.length;
  const side = size * pixelsPerModule;
  const path = rows.flatMap((row, y) =>
    darkRuns(row).map(([x, width]) => `M${x} ${y}h${width}v1h-${width}z`),
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}" viewBox="0 0 ${size} ${size}" ` +
    `shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${path.join('')}"/></svg>`
  );
}

function darkRuns(row: readonly boolean[]): [start: number, length: number][] {
  const modules = row.map((isDark) => (isDark ? '#' : ' ')).join('');
  return [...modules.matchAll(/#+/g)].map((run) => [run.index, run[0].length]);
}

const pixelsPerModule = 8;

/**
 * Encodes black and white modules as a PNG with one bit per pixel (ISO/IEC 15948). With 8 pixels per module, each module
 * is exactly one byte of a line.
 */
function encodePng(rows: readonly (readonly boolean[])[]): Buffer {
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
