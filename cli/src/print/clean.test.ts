import { expect, test } from 'vitest';
import { clean, cleanJson } from './clean.ts';

// Moves the cursor, also with a C1 character, and turns text around.
const hostile = 'a\u001b[2J\u009b2J\u007fb\u200f\u202etxt\u2066';

test('text of others cannot command a terminal, nor turn around what it shows', () => {
  expect(clean(hostile)).toBe('a\ufffd[2J\ufffd2J\ufffdb\ufffd\ufffdtxt\ufffd');
  expect(clean('Zürich 東京 👩‍🚀')).toBe('Zürich 東京 👩‍🚀');
});

test('JSON means the same without such characters', () => {
  const json = cleanJson({ [hostile]: hostile });
  expect(json).toMatch(/^[ -~]*$/);
  expect(JSON.parse(json)).toEqual({ [hostile]: hostile });
});
