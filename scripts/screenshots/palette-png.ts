import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');

/** Reduces a PNG of a page to 256 colors: a third of the bytes, and text stays sharp, unlike in a JPEG. */
export function toPalettePng(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png);
  const palette = mostUsedColors(pixels);
  const nearest = new Map(palette.map((color, index) => [color, index]));
  const rows = Buffer.alloc(height * (width + 1)); // each row starts with its filter, 0 for none
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const color = pixels[y * width + x] as number;
      let index = nearest.get(color);
      if (index === undefined) {
        index = nearestColor(color, palette);
        nearest.set(color, index);
      }
      rows[y * (width + 1) + 1 + x] = index;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // 8 bits, palette
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap((color) => channels(color)))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Reads what Chromium writes: 8 bits, RGB or RGBA, not interlaced (PNG specification, clauses 9 and 11). */
function decode(png: Buffer): { width: number; height: number; pixels: Uint32Array } {
  const parts: Buffer[] = [];
  for (let at = signature.length; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const bytesPerPixel = png[25] === 6 ? 4 : 3;
  const stride = width * bytesPerPixel;
  const data = inflateSync(Buffer.concat(parts));
  const pixels = new Uint32Array(width * height);
  let above = new Uint8Array(stride);
  for (let y = 0; y < height; y++) {
    const start = y * (stride + 1);
    const row = unfilter(
      data[start] as number,
      data.subarray(start + 1, start + 1 + stride),
      above,
      bytesPerPixel,
    );
    for (let x = 0; x < width; x++) {
      const [red, green, blue] = row.subarray(x * bytesPerPixel, x * bytesPerPixel + 3) as unknown as Rgb;
      pixels[y * width + x] = (red << 16) | (green << 8) | blue;
    }
    above = row;
  }
  return { width, height, pixels };
}

type Rgb = [red: number, green: number, blue: number];

function unfilter(
  filter: number,
  row: Uint8Array,
  above: Uint8Array,
  bytesPerPixel: number,
): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(row.length);
  for (let i = 0; i < row.length; i++) {
    const left = out[i - bytesPerPixel] ?? 0;
    const up = above[i] as number;
    const upLeft = above[i - bytesPerPixel] ?? 0;
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, upLeft)][filter] as number;
    out[i] = (row[i] as number) + guess;
  }
  return out;
}

function paeth(left: number, up: number, upLeft: number): number {
  const [byLeft, byUp, byBoth] = [
    Math.abs(up - upLeft),
    Math.abs(left - upLeft),
    Math.abs(left + up - 2 * upLeft),
  ];
  if (byLeft <= byUp && byLeft <= byBoth) return left;
  return byUp <= byBoth ? up : upLeft;
}

function mostUsedColors(pixels: Uint32Array): number[] {
  const counts = new Map<number, number>();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 256)
    .map(([color]) => color);
}

function nearestColor(color: number, palette: readonly number[]): number {
  const wanted = channels(color);
  const distances = palette.map((other) =>
    channels(other).reduce((sum, value, index) => sum + (value - (wanted[index] as number)) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}

const channels = (color: number): Rgb => [color >> 16, (color >> 8) & 255, color & 255];

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
