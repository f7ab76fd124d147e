import pg from 'pg';
import { expect, test } from 'vitest';
import { clip } from './clip.ts';
import { describeCause } from './describe-cause.ts';

test('text that is cut stays text: PostgreSQL stores no half of a character', () => {
  for (const text of ['😀'.repeat(40), `a${'😀'.repeat(40)}`]) {
    const cut = clip(text, 10);
    expect([...cut]).toHaveLength(11);
    expect(Buffer.from(cut).toString()).toBe(cut);
  }
  expect(clip('a'.repeat(61))).toBe(`${'a'.repeat(60)}…`);
  expect(clip('a'.repeat(60))).toBe('a'.repeat(60));
});

test('the cause of a failure fills neither the log nor the last error of an order, however long its message is', () => {
  const cause = new Error('x'.repeat(1_000_000));
  cause.name = 'y'.repeat(1_000_000);
  cause.stack = `Error\n${'    at somewhere (file:1:1)\n'.repeat(10_000)}`;
  expect(JSON.stringify(describeCause(cause)).length).toBeLessThan(2_000);
});

test('the cause of a failure has no message of PostgreSQL, which quotes values', () => {
  const error = Object.assign(new pg.DatabaseError('Key (eid)=(8999) exists', 0, 'error'), { code: '23505' });
  expect(describeCause(error)).toMatchObject({ code: '23505' });
  expect(JSON.stringify({ ...describeCause(error), frames: [] })).not.toContain('8999');
});
