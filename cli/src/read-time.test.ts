import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readDuration, readTime } from './read-time.ts';

const now = 1_800_000_000;
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: now * 1_000 + 999 }));
afterEach(() => void vi.useRealTimers());

test.each([
  ['90s', now - 90],
  ['5m', now - 300],
  ['2h', now - 7_200],
  ['1d', now - 86_400],
  ['1794700000', 1_794_700_000],
  ['2026-11-15', Date.parse('2026-11-15T00:00:00Z') / 1_000],
  ['2026-11-15T08:00:00.900Z', Date.parse('2026-11-15T08:00:00Z') / 1_000],
])('%s is a time', (text, seconds) => {
  expect(readTime(text)).toBe(seconds);
});

test.each(['yesterday', 'Nov 15 2026', '15/11/2026', '2026', '2w', '', '2026-13-45'])(
  '%j is no time, in any engine',
  (text) => {
    expect(() => readTime(text)).toThrow('Must be a time such as');
  },
);

test('a duration is in seconds unless it says otherwise', () => {
  expect(['45', '30s', '5m', '2h', '1d'].map(readDuration)).toEqual([45, 30, 300, 7_200, 86_400]);
  for (const text of ['', 'm', '1.5h', '2w', '-5'])
    expect(() => readDuration(text)).toThrow('Must be a duration');
});
