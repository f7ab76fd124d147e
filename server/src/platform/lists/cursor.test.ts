import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AppError } from '../app-error.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { readPage } from './read-page.ts';

const scope = { list: 'esims', accountId: 'acct_1', filters: { status: 'active', product_id: undefined } };
const position = '0192f3a4-0000-7000-8000-000000000001';
const any = /./;

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    const { code, param, message } = error as AppError;
    return `${code} ${param}: ${message}`;
  }
  return 'accepted';
}

describe('a cursor', () => {
  test('carries its position to the list it was made for', () => {
    expect(decodeCursor(scope, encodeCursor(scope, position), any)).toBe(position);
  });

  test('does not depend on the order of the filters, or on whether omitted ones are undefined or absent', () => {
    const one = { ...scope, filters: { status: 'active', type: 'a' } };
    const other = { ...scope, filters: { type: 'a', status: 'active', product_id: undefined } };
    expect(encodeCursor(one, position)).toBe(encodeCursor(other, position));
  });

  test.each([
    [
      'another list',
      { ...scope, list: 'events' },
      'it belongs to the list of esims, not to the list of events',
    ],
    ['other filters', { ...scope, filters: { status: 'failed' } }, 'it was made with other filters'],
    ['no filter', { ...scope, filters: {} }, 'it was made with other filters'],
    [
      'another account',
      { ...scope, accountId: 'acct_2' },
      'it was changed, truncated, or made for another account',
    ],
  ])('is refused for %s, and the refusal says why', (_, other, why) => {
    const text = refusal(() => decodeCursor(other, encodeCursor(scope, position), any));
    expect(text).toContain(
      `cursor_invalid starting_after: starting_after is not a cursor of this list: ${why}.`,
    );
  });

  test('is refused when any byte of it is changed, cut off or added', () => {
    const cursor = encodeCursor(scope, position);
    const bytes = Buffer.from(cursor, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      expect(refusal(() => decodeCursor(scope, changed.toString('base64url'), any))).toMatch(
        /^cursor_invalid/,
      );
    }
    for (const text of [
      '',
      'x',
      cursor.slice(0, -1),
      `${cursor}A`,
      `${cursor}=`,
      `${cursor} `,
      ` ${cursor}`,
    ]) {
      expect(refusal(() => decodeCursor(scope, text, any))).toMatch(/^cursor_invalid/);
    }
  });

  test('with an unknown list name is refused without repeating the name', () => {
    for (const list of ['<b>9', '<b>events', 'events<b>']) {
      const forged = encodeCursor({ ...scope, list }, position);
      const text = refusal(() => decodeCursor(scope, forged, any));
      expect(text).toContain('it was changed, truncated');
      expect(text).not.toContain('<b>');
    }
  });

  test('that is malformed is refused as changed, even if it names another list or other filters', () => {
    const own = Buffer.from(encodeCursor(scope, position), 'base64url').subarray(6).toString().split('\n');
    const forged = ['events', 'events\nx', 'esims\nx', `esims\n${own[1]}`].map((text) => {
      const checksum = createHash('sha256').update(`${scope.accountId}\n${text}`).digest().subarray(0, 6);
      return Buffer.concat([checksum, Buffer.from(text)]).toString('base64url');
    });
    const strange = [
      `${encodeCursor({ ...scope, list: 'events' }, position)}=`,
      `${encodeCursor({ ...scope, filters: {} }, position)}=`,
    ];
    for (const cursor of [...forged, ...strange]) {
      expect(refusal(() => decodeCursor(scope, cursor, any))).toContain('it was changed, truncated');
    }
  });

  test('with a malformed position is refused', () => {
    const cursor = encodeCursor(scope, 'not-a-uuid');
    expect(refusal(() => decodeCursor(scope, cursor, /^\d+$/))).toContain('it was changed.');
  });
});

describe('a page', () => {
  const rows = Array.from({ length: 25 }, (_, i) => `0192f3a4-0000-7000-8000-${String(i).padStart(12, '0')}`);
  async function page(query: { limit?: number; starting_after?: string }) {
    const asked: [string | null, number][] = [];
    const result = await readPage(query, {
      scope,
      read: async (after, count) => {
        asked.push([after, count]);
        const from = after === null ? 0 : rows.indexOf(after) + 1;
        return rows.slice(from, from + count);
      },
      positionOf: (row) => row,
      present: (row) => row,
    });
    return { ...result, asked };
  }

  test('has a cursor exactly when there is another page', async () => {
    const first = await page({ limit: 24 });
    expect([first.data.length, first.has_more]).toEqual([24, true]);
    const rest = await page({ limit: 24, starting_after: first.next_cursor as string });
    expect([rest.data, rest.has_more, 'next_cursor' in rest]).toEqual([[rows[24]], false, false]);
    const exact = await page({ limit: 25 });
    expect([exact.data.length, exact.has_more, 'next_cursor' in exact]).toEqual([25, false, false]);
  });

  test('reads one row more than it shows: 10 by default, 100 at most', async () => {
    expect((await page({})).asked).toEqual([[null, 11]]);
    expect((await page({ limit: 1000 })).asked).toEqual([[null, 101]]);
    expect((await page({})).data).toEqual(rows.slice(0, 10));
  });

  test('accepts only a UUID as position unless the list specifies another format', async () => {
    for (const wrong of ['x', `x${position}`, `${position}x`, position.replace('-', '')]) {
      await expect(page({ starting_after: encodeCursor(scope, wrong) })).rejects.toMatchObject({
        code: 'cursor_invalid',
      });
    }
  });
});
