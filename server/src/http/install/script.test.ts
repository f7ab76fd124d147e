import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { script } from './script.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Runs the script on a page that stays open, with these answers; the last one repeats. Returns what it asked for. */
function openPage(statuses: number[], document: { hidden: boolean } = { hidden: false }): string[] {
  const asked: string[] = [];
  const list = { dataset: { step: 'ready' }, children: [] };
  runInNewContext(script, {
    setTimeout,
    document: Object.assign(document, { getElementById: () => list }),
    location: { pathname: '/i/token' },
    fetch: async (url: string) => ({ status: statuses[asked.push(url) - 1] ?? statuses.at(-1) }),
  });
  return asked;
}

test('an open page asks on while its link works, also after an error, and no more once the link has ended', async () => {
  const asked = openPage([304, 503, 304, 404]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual(Array.from({ length: 4 }, () => '/i/token/status'));
  expect(vi.getTimerCount()).toBe(0);
});

test('a page that nobody sees asks for nothing, and goes on when it is seen again', async () => {
  const document = { hidden: true };
  const asked = openPage([304], document);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(asked).toEqual([]);
  document.hidden = false;
  await vi.advanceTimersByTimeAsync(3_000);
  expect(asked).toHaveLength(1);
});

test('a page that was left open stops asking after 20 minutes', async () => {
  const asked = openPage([304]);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(asked).toHaveLength(400);
  expect(vi.getTimerCount()).toBe(0);
});
