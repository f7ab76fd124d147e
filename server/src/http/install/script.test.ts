import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { script } from './script.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Runs the script on a page that stays open, with these answers. Returns what it asked for. */
function openPage(statuses: number[]): string[] {
  const asked: string[] = [];
  const list = { dataset: { step: 'ready' }, children: [] };
  runInNewContext(script, {
    setTimeout,
    document: { hidden: false, getElementById: () => list },
    location: { pathname: '/i/token' },
    fetch: async (url: string) => ({ status: statuses[asked.push(url) - 1] }),
  });
  return asked;
}

test('an open page asks on while its link works, also after an error, and no more once the link has ended', async () => {
  const asked = openPage([304, 503, 304, 404]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual(Array.from({ length: 4 }, () => '/i/token/status'));
  expect(vi.getTimerCount()).toBe(0);
});
