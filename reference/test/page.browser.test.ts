import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openApiDocument } from '@simplane/contract';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../../server/test/support/browser.ts';
import { docsContentSecurityPolicy, renderDocsPage } from '../src/page.ts';

let browser: Browser;
let server: Server;
let origin: string;

/** With all operations. It takes seconds to load and to lay out, so those tests that need it share it. */
let wholePage: ReturnType<typeof open> | undefined;

beforeAll(async () => {
  const pages = new Map<string | undefined, string>();
  server = createServer((request, response) => {
    const html = pages.get(request.url);
    if (html === undefined) return response.writeHead(404).end();
    return response
      .writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': docsContentSecurityPolicy,
      })
      .end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  pages.set('/docs', renderDocsPage(documentWithLongWords(), { baseUrl: origin }));
  pages.set('/short', renderDocsPage(shortDocument(), { baseUrl: origin }));
  browser = await launchBrowser();
});

afterEach(async () => {
  const whole = await wholePage;
  const contexts = browser.contexts().filter((context) => context !== whole?.page.context());
  await Promise.all(contexts.map((context) => context.close()));
});

afterAll(async () => {
  await browser?.close();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

test('the page sends no request to another origin and violates none of its own policy', async () => {
  const { page, requests, violations } = await openWhole();
  await page.keyboard.press('End');
  expect(requests.filter((url) => !url.startsWith('data:'))).toEqual([`${origin}/docs`]);
  expect(violations).toEqual([]);
});

test('the policy of the page is in force, and a violation is reported', async () => {
  const { page, violations } = await openShort();
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'document.title = "injected"';
    document.body.append(script);
    document.body.setAttribute('style', 'color: red');
  });
  await expect.poll(() => violations.length).toBeGreaterThan(0);
  expect(await page.title()).toBe('Simplane API reference');
});

test('every link in the contents leads to a section and is highlighted there', async () => {
  const { page } = await openWhole();
  const anchors = await page
    .locator('#contents a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
  expect(anchors.length).toBeGreaterThan(10);
  const sections = await page.evaluate(
    (all) => all.map((anchor) => [anchor, document.querySelectorAll(`:is(section, tr)${anchor}`).length]),
    anchors,
  );
  expect(sections).toEqual(anchors.map((anchor) => [anchor, 1]));
  await page.locator('#contents a[href="#op-createEsim"]').click();
  await expect.poll(() => topOf(page, '#op-createEsim')).toBeLessThan(150);
  await expect
    .poll(() => page.locator('#contents a[aria-current]').getAttribute('href'))
    .toBe('#op-createEsim');
});

test('a slash focuses the search, which finds operations, events, error codes and text', async () => {
  const { page, violations } = await openWhole();
  const search = page.getByRole('searchbox', { name: 'Search the reference' });
  const shown = () =>
    page
      .locator('#contents a')
      .evaluateAll((links) =>
        links.filter((link) => link.checkVisibility()).map((link) => (link as HTMLAnchorElement).hash),
      );
  const before = await shown();
  expect(before).not.toContain('#error-cursor_invalid');
  await page.keyboard.press('/');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('search');
  expect(await search.inputValue()).toBe('');
  for (const [words, anchor] of [
    ['provision an', '#op-createEsim'],
    ['/v1/esims suspend', '#op-suspendEsim'],
    ['usage_thresh', '#event-bundle-usage_threshold'],
    ['CURSOR_INVALID', '#error-cursor_invalid'],
    ['openssl', '#signatures'],
  ] as const) {
    await search.fill(words);
    const found = await shown();
    expect(found, words).toContain(anchor);
    expect(found.length, words).toBeLessThan(10);
    expect(await page.getByRole('status').textContent()).toMatch(/^\d+ match(es)?$/);
  }
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toBe(`${origin}/docs#signatures`);
  await page.keyboard.press('/');
  await search.fill('xylophone quartet');
  expect(await shown()).toEqual([]);
  await page.keyboard.press('Escape');
  expect(await shown()).toEqual(before);
  await search.fill('webhook endpoint');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const focused = () => page.evaluate(() => (document.activeElement as HTMLAnchorElement).hash);
  expect(await focused()).toBe((await shown())[1]);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('search');
  await page.keyboard.press('Escape');
  expect(await shown()).toEqual(before);
  expect(violations).toEqual([]);
});

test('the copy button puts the sample on the clipboard exactly as shown', async () => {
  const { page } = await openShort({ permissions: ['clipboard-read', 'clipboard-write'] });
  const sample = page.locator('#op-createEsim figure').first();
  await sample.getByRole('button', { name: 'Copy' }).click();
  await expect.poll(() => sample.getByRole('button').textContent()).toBe('Copied');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(await sample.locator('pre').textContent());
  expect(copied).toContain(`curl '${origin}/v1/esims' \\\n  -H "Authorization: Bearer $SIMPLANE_API_KEY"`);
});

test('nothing overflows a window of 320 to 1920 px', async () => {
  const { page } = await openWhole();
  await openAllDetails(page);
  for (const width of [320, 390, 768, 1280, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    const widths = await page.evaluate(() => ({
      page: document.documentElement.scrollWidth,
      body: document.body.scrollWidth,
    }));
    expect(widths.page).toBe(width);
    expect(widths.body, `at ${width} px`).toBeLessThanOrEqual(width);
  }
});

test('all text has a contrast of at least 4.5 in the light and the dark scheme', async () => {
  const { page } = await openWhole();
  await openAllDetails(page);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const measured = await page.evaluate(measureContrast);
    expect(measured.count).toBeGreaterThan(300);
    expect(measured.low, colorScheme).toEqual([]);
    const isDark = await page.evaluate(
      () => getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)',
    );
    expect(isDark).toBe(colorScheme === 'dark');
  }
});

test('on a phone the contents open from a button and close after a link is tapped', async () => {
  const { page } = await openShort({ viewport: { width: 390, height: 844 }, hasTouch: true });
  const contents = page.getByRole('navigation', { name: 'Contents' });
  expect(await contents.isVisible()).toBe(false);
  await page.goto(`${origin}/short#op-createEsim`);
  const top = await topOf(page, '#op-createEsim');
  await page.getByRole('button', { name: 'Contents' }).tap();
  expect(await topOf(page, '#op-createEsim')).toBe(top);
  await expect.poll(() => contents.isVisible()).toBe(true);
  await contents.getByRole('link', { name: 'Error codes' }).tap();
  await expect.poll(() => contents.isVisible()).toBe(false);
  await expect.poll(() => topOf(page, '#error-codes')).toBeLessThan(150);
});

test('without JavaScript the contents work, every language is shown, and nothing that needs a script', async () => {
  const { page } = await openShort({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
  expect(await page.locator('#op-createEsim figure[data-language]:visible').count()).toBe(3);
  expect(await page.locator('#op-createEsim .choose').isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Contents' }).click();
  expect(await page.locator('#search').isVisible()).toBe(false);
  await page.locator('#contents a[href="#pagination"]').click();
  await expect.poll(() => page.url()).toBe(`${origin}/short#pagination`);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.locator('#contents').isVisible()).toBe(false);
});

test('on a phone the search is in the contents, and a slash opens them', async () => {
  const { page } = await openShort({ viewport: { width: 390, height: 844 } });
  await page.keyboard.press('/');
  await expect.poll(() => page.locator('#search').isVisible()).toBe(true);
  await page.keyboard.type('rotate');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toBe(`${origin}/short#op-rotateWebhookSecret`);
  await expect.poll(() => page.locator('#contents').isVisible()).toBe(false);
});

test('the language is chosen for all samples by keyboard, stays in place and is remembered', async () => {
  const { page } = await openShort();
  const shown = () =>
    page
      .locator('figure[data-language]:visible')
      .evaluateAll((all) => [...new Set(all.map((figure) => (figure as HTMLElement).dataset['language']))]);
  expect(await shown()).toEqual(['curl']);
  const button = page.locator('#op-addBundle').getByRole('button', { name: 'Python' });
  await button.focus();
  const top = (await button.boundingBox())?.y ?? 0;
  await page.keyboard.press('Enter');
  expect(await shown()).toEqual(['python']);
  expect(await button.getAttribute('aria-pressed')).toBe('true');
  expect(Math.abs(((await button.boundingBox())?.y ?? 0) - top)).toBeLessThan(3);
  await page.reload();
  expect(await shown()).toEqual(['python']);
});

test('the keyboard can skip the contents, and focused elements have an outline', async () => {
  const { page } = await openShort();
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the reference');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('main');
  await page.keyboard.press('Tab');
  const outline = await page.evaluate(() => {
    const active = document.activeElement as Element;
    return { inMain: active.closest('main') !== null, style: getComputedStyle(active).outlineStyle };
  });
  expect(outline).toEqual({ inMain: true, style: 'solid' });
});

const desk = { width: 1280, height: 800 };
const openShort = (options: BrowserContextOptions = {}) => open(options, '/short');

async function openWhole() {
  wholePage ??= open({}, '/docs');
  const whole = await wholePage;
  await whole.page.setViewportSize(desk);
  return whole;
}

async function open(options: BrowserContextOptions, path: string) {
  const context = await browser.newContext({ viewport: desk, ...options });
  const requests: string[] = [];
  const violations: string[] = [];
  context.on('request', (request) => requests.push(request.url()));
  const page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) violations.push(message.text());
  });
  page.on('pageerror', (error) => violations.push(error.message));
  await page.goto(origin + path, { waitUntil: 'load' });
  return { page, requests, violations };
}

async function openAllDetails(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
}

async function topOf(page: Page, selector: string): Promise<number> {
  return (await page.locator(selector).boundingBox())?.y ?? Number.NaN;
}

/** A few of the operations and one resource: the page has all its parts, but a browser takes far less time to lay it out. */
function shortDocument() {
  const document = openApiDocument();
  const schemas = Object.entries(document.components.schemas).filter(([name]) => /^(Esim|Error)$/.test(name));
  const paths = Object.entries(document.paths).filter(([path]) =>
    /^\/v1\/(esims|esims\/{iccid}\/bundles|webhook_endpoints\/{id}\/rotate_secret)$/.test(path),
  );
  const components = { ...document.components, schemas: Object.fromEntries(schemas) };
  return { ...document, paths: Object.fromEntries(paths), components };
}

/** The contract's document plus an operation with unbreakable words, so that future long names fit too. */
function documentWithLongWords() {
  const document = openApiDocument();
  const word = `${'unbreakable_'.repeat(14)}end`;
  const schema = {
    type: 'object',
    required: [word],
    properties: {
      [word]: { type: 'string', pattern: `^(${word}|${word})$`, description: `A \`${word}\` ${word}.` },
    },
  };
  document.paths[`/v1/${word}/{${word}}`] = {
    delete: {
      operationId: word,
      tags: ['eSIMs'],
      summary: 'An operation with long words',
      description: `Takes \`${word}\`.\n\nRequires the \`write\` scope.`,
      parameters: [
        { name: word, in: 'path', required: true, schema: { type: 'string', enum: [word, `${word}s`] } },
      ],
      requestBody: { content: { 'application/json': { schema } } },
      responses: { 200: { description: 'Done.', content: { 'application/json': { schema } } } },
    },
  };
  return document;
}

/** Runs in the page. Computes the WCAG contrast of every visible element with text of its own. */
function measureContrast() {
  const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
      const ratio = value / 255;
      return ratio <= 0.04045 ? ratio / 12.92 : ((ratio + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const backgrounds = new Map<Element, string>();
  const backgroundOf = (element: Element | null): string => {
    if (!element) return 'rgb(255, 255, 255)';
    const known = backgrounds.get(element);
    if (known) return known;
    const own = getComputedStyle(element).backgroundColor;
    const shown = (channels(own)[3] ?? 1) === 1 ? own : backgroundOf(element.parentElement);
    backgrounds.set(element, shown);
    return shown;
  };
  const low: string[] = [];
  let count = 0;
  for (const element of document.querySelectorAll('body *:not(script):not(style)')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim());
    // The # next to a heading is invisible until hovered.
    if (!hasText || !element.checkVisibility({ opacityProperty: true })) continue;
    const [light = 0, dark = 0] = [getComputedStyle(element).color, backgroundOf(element)]
      .map(luminance)
      .sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    count += 1;
    if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${element.outerHTML.slice(0, 120)}`);
  }
  return { count, low };
}
