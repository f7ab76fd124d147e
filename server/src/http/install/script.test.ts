import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { script } from './script.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

type Page = { document?: { hidden: boolean }; shown?: string; told?: string };

/** Runs the script on a page that stays open and shows a step, with these answers; the last one repeats. Returns what it did. */
function openPage(
  statuses: number[],
  { document = { hidden: false }, shown = 'ready', told = shown }: Page = {},
) {
  const [asked, tags, loaded]: [string[], unknown[], string[]] = [[], [], []];
  const steps = ['ready', 'downloaded', 'installed', 'online'];
  const list = { dataset: { step: shown }, children: steps.map((step) => ({ dataset: { step } })) };
  runInNewContext(script, {
    setTimeout,
    document: Object.assign(document, { getElementById: () => list }),
    location: { pathname: '/i/token', replace: (path: string) => void loaded.push(path) },
    fetch: async (url: string, { headers }: { headers: Record<string, string> }) => {
      tags.push(headers['If-None-Match']);
      const status = statuses[asked.push(url) - 1] ?? statuses.at(-1);
      return { status, headers: new Map([['ETag', `"${told}"`]]), json: async () => ({ step: told }) };
    },
  });
  return { asked, tags, loaded };
}

test('an open page asks on while its link works, also after an error, and no more once the link has ended', async () => {
  const { asked } = openPage([304, 503, 304, 404]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual(Array.from({ length: 4 }, () => '/i/token/status'));
  expect(vi.getTimerCount()).toBe(0);
});

test('a page that nobody sees asks for nothing, and goes on when it is seen again', async () => {
  const document = { hidden: true };
  const { asked } = openPage([304], { document });
  await vi.advanceTimersByTimeAsync(600_000);
  expect(asked).toEqual([]);
  document.hidden = false;
  await vi.advanceTimersByTimeAsync(3_000);
  expect(asked).toHaveLength(1);
});

test('a page that was left open stops asking after 20 minutes', async () => {
  const { asked } = openPage([304]);
  await vi.advanceTimersByTimeAsync(20 * 60_000);
  expect(asked).toHaveLength(400);
  expect(vi.getTimerCount()).toBe(0);
});

test('a page that shows the last step asks for nothing', () => {
  openPage([200], { shown: 'online' });
  expect(vi.getTimerCount()).toBe(0);
});

test('a page tells which step it knows, so that an answer that says the same is empty', async () => {
  const { tags } = openPage([200, 304]);
  await vi.advanceTimersByTimeAsync(9_000);
  expect(tags).toEqual([undefined, '"ready"', '"ready"']);
});

test.each([
  ['ready', 'online'],
  ['ready', 'failed'],
  ['downloaded', 'ready'],
])('from %s to %s, the page is loaded again: it then shows more than a step', async (shown, told) => {
  const { loaded } = openPage([200, 404], { shown, told });
  await vi.advanceTimersByTimeAsync(3_000);
  expect(loaded).toEqual(['/i/token']);
});
