import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../../server/test/support/browser.ts';
import { type Screen, startFilledService } from './support/filled-service.ts';
import { watchRequests } from './support/hold-requests.ts';
import { openPage, signIn } from './support/open-page.ts';

let browser: Browser;
let filled: Awaited<ReturnType<typeof startFilledService>>;

beforeAll(async () => {
  [browser, filled] = await Promise.all([launchBrowser(), startFilledService()]);
});
afterAll(async () => {
  await browser.close();
  await filled.stop();
});

async function open(key: string, { hasOwnClock = false } = {}) {
  const { page } = await openPage(browser, filled.service.url);
  const requests = await watchRequests(page);
  // Before the page sets a timer: it could not clear that one any more, and would go on reading a screen that it has left.
  if (hasOwnClock) await page.clock.install();
  await signIn(page, filled.service.url, key);
  return {
    page,
    requests,
    async visit([path, heading]: Screen) {
      await requests.enter(path);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await requests.settled();
    },
  };
}

const keyOfOperator = () => filled.service.createKey({ scopes: ['operator'] });

/** Names that stand beside ids: without them, the id stands for itself. */
const isName = (key: string, path: string) =>
  /^\/(products\?limit=100|event_types|operator\/accounts\/)/.test(key) ||
  (path.startsWith('/events/') && key.startsWith('/webhook_endpoints?'));

/** The lines of the page, without what differs from one visit to the next: times, ids, counts. */
async function linesOf(page: Page): Promise<string[]> {
  const text = await page.locator('main').innerText();
  return text
    .split(/[\n\t]+/)
    .map((line) =>
      line
        .replaceAll(/\b(in )?\d+ (s|min|h|d)( ago)?\b|\bnow\b/g, 'then')
        .replaceAll(/\b[a-z]+_…\w+|\b(prod|acct)_\w+|…?\d[\d.,:]*/g, '#')
        .replace(/^Attempts to deliver to .*/, '#')
        .trim(),
    )
    .filter((line) => line !== '' && line !== '#' && !/^# ?(then|ms|#)?$/.test(line));
}

const newOf = (lines: readonly string[], known: readonly string[], allowed: RegExp) =>
  lines.filter((line) => !known.includes(line) && !allowed.test(line));

const loading = /^Loading .*…$/;
const failed = /^(✕ Could not load .*\. Broken on purpose\.|Retry|internal)$/;

/** One request of a screen after the other is held, then fails. */
async function walk(key: string, screens: readonly Screen[]): Promise<void> {
  const { page, requests, visit } = await open(key);
  for (const screen of screens) {
    const [path] = screen;
    await requests.release();
    await visit(screen);
    const known = await linesOf(page);
    expect([path, known.filter((line) => loading.test(line))]).toEqual([path, []]);
    for (const one of await requests.asked()) {
      const where = `${path} without ${one}`;
      await requests.hold(one);
      await visit(screen);
      const before = await linesOf(page);
      expect([where, newOf(before, known, loading)]).toEqual([where, []]);
      const waits = before.some((line) => loading.test(line));
      await requests.fail(one);
      await requests.settled();
      const after = await linesOf(page);
      expect([where, newOf(after, known, failed)]).toEqual([where, []]);
      const says = after.some((line) => failed.test(line));
      if (!isName(one, path)) expect([where, waits, says]).toEqual([where, true, true]);
    }
  }
}

test('no panel of an account says anything before it knows, and each says which of its requests failed', () =>
  walk(filled.service.key, filled.accountScreens));

test('no panel of the operator says anything before it knows, and each says which of its requests failed', async () =>
  walk(await keyOfOperator(), filled.operatorScreens));

/** What a screen claims when there is nothing: its empty lists, and its good news. */
async function claimsOf(page: Page): Promise<string[]> {
  const words = await page.locator('main :is(.empty, .well, .steps)').allInnerTexts();
  const titles = await page.getByRole('heading', { name: 'Your first call' }).allInnerTexts();
  return [...words, ...titles];
}

test('a screen without anything on it claims so only after it was told', async () => {
  const empty = await filled.service.createAccount('Empty');
  const { page, requests, visit } = await open(empty.key);
  for (const screen of filled.accountScreens.filter(([path]) => !/\/\w+\/\w/.test(path))) {
    const [path] = screen;
    await requests.release();
    await visit(screen);
    const claims = await claimsOf(page);
    if (!/keys|audit|requests|catalog|branding/.test(path))
      expect([path, claims.length > 0]).toEqual([path, true]);
    await requests.hold(null);
    await visit(screen);
    expect([path, await claimsOf(page)]).toEqual([path, []]);
    await requests.fail(null);
    await requests.settled();
    expect([path, await claimsOf(page)]).toEqual([path, []]);
  }
});

test('what could not be read again stays, with the time it is of and without a tick', async () => {
  for (const [key, screens] of [
    [filled.service.key, filled.accountScreens],
    [await keyOfOperator(), filled.operatorScreens],
  ] as const) {
    const { page, requests, visit } = await open(key, { hasOwnClock: true });
    const askedAfter = (count: number) =>
      page.evaluate((count) => globalThis.requests.asked.slice(count), count);
    for (const screen of screens) {
      const [path] = screen;
      await requests.release();
      await visit(screen);
      const known = await linesOf(page);
      await requests.fail(null);
      const before = (await askedAfter(0)).length;
      await page.clock.fastForward(21_000); // every list and figure is read again by then
      // What it shows once all that it has asked for is answered.
      let [asked, lines] = [[] as string[], [] as string[]];
      do {
        asked = await askedAfter(before);
        await requests.settled();
        lines = await linesOf(page);
      } while ((await askedAfter(before)).length > asked.length);
      const again = asked.length > 0;
      const says = lines.some((line) => /^As of # UTC: could not read/.test(line));
      expect([path, says], asked.join()).toEqual([path, again]);
      expect([path, await page.locator('.well', { hasText: '✓' }).count()]).toEqual([path, 0]);
      const gone = known.filter((line) => !lines.includes(line) && !line.startsWith('✓ '));
      expect([path, gone]).toEqual([path, []]);
    }
  }
});
