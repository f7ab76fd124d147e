import * as zlib from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { cleanPng } from './clean-png.ts';

const unpacked = vi.hoisted(() => [] as number[]);

vi.mock('node:zlib', async (original) => {
  const actual = await original<typeof zlib>();
  const inflateSync: typeof actual.inflateSync = (...given) => {
    const bytes = actual.inflateSync(...given);
    unpacked.push(bytes.length);
    return bytes;
  };
  return { ...actual, inflateSync };
});

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(zlib.crc32(typed), typed.length + 4);
  return framed;
}

const end = chunk('IEND', Buffer.alloc(0));

function picture(chunks: Buffer[]): Buffer {
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks, end]);
}

type Header = { width?: number; height?: number; depth?: number; colorType?: number; length?: number };

function header({ width = 2, height = 2, depth = 8, colorType = 0, length = 13 }: Header = {}): Buffer {
  const data = Buffer.alloc(Math.max(13, length));
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.writeUInt8(depth, 8);
  data.writeUInt8(colorType, 9);
  return chunk('IHDR', data.subarray(0, length));
}

const pixels = (count: number) => chunk('IDAT', zlib.deflateSync(Buffer.alloc(count)));

test.each([
  ['has no header', [pixels(6)]],
  ['has no header', [chunk('PLTE', header().subarray(8, 21)), pixels(6)]],
  ['has no header', [header({ length: 14 }), pixels(6)]],
  ['is 0 by 2 pixels', [header({ width: 0 }), pixels(2)]],
  ['is 2 by 0 pixels', [header({ height: 0 }), pixels(0)]],
  ['is 1001 by 2 pixels', [header({ width: 1_001 }), pixels(2_004)]],
  ['has an unknown kind of pixels', [header({ colorType: 5 }), pixels(6)]],
  ['has an unknown kind of pixels', [header({ depth: 24 }), pixels(14)]],
  ['is damaged', [header(), chunk('IDAT', Buffer.from('none'))]],
])('a logo that %s is refused', (reason, chunks) => {
  expect(() => cleanPng(picture(chunks))).toThrow(`The logo ${reason}`);
});

test('a logo may have a thousand pixels a side', () => {
  const given = picture([header({ width: 1_000, height: 1 }), pixels(1_001)]);
  expect(cleanPng(given)).toEqual(given);
});

test('no more of a logo is unpacked than its header says', () => {
  unpacked.length = 0;
  expect(() => cleanPng(picture([header(), pixels(1_000_000)]))).toThrow('is damaged');
  expect(unpacked).toEqual([]);
});
