import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { decodePlace, encodePlace } from './cursor.ts';

const owner = { account: { id: 'acct_1' }, cell: null };
const place = { position: 2 ** 40 + 7, mark: 2 ** 31 + 3 };
const decode = (cursor: string) => decodePlace('acct_1', cursor, 'after');

/** A cursor with the right checksum for any bytes, as whoever knows how they are made can write it. */
function forged(text: Buffer): string {
  const given = Buffer.concat([Buffer.from('feed\nacct_1\n'), text]);
  return Buffer.concat([hash('sha256', given, 'buffer').subarray(0, 6), text]).toString('base64url');
}

test('a cursor is the place that it was made of', () => {
  const cursor = encodePlace(owner, place);
  expect(decode(cursor)).toEqual(place);
  const text = Buffer.from(cursor, 'base64url').subarray(6);
  expect(forged(text)).toBe(cursor);
});

test('a cursor of another length, or written in another way, is refused, and fails in no other way', () => {
  const cursor = encodePlace(owner, place);
  const others = [forged(Buffer.alloc(0)), forged(Buffer.alloc(11)), forged(Buffer.alloc(13))];
  for (const other of [...others, `${cursor}=`, ` ${cursor}`, cursor.replace(/^./, '$&\n')]) {
    expect(() => decode(other), other).toThrow(
      expect.objectContaining({ code: 'cursor_invalid', param: 'after' }),
    );
  }
});
