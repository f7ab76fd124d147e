import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { launchBrowser } from '../../server/test/support/browser.ts';
import { call } from '../../server/test/support/client.ts';
import { insertEsim } from '../../server/test/support/insert-esim.ts';
import { decode, fromPng } from '../../server/test/support/scan-qr.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { accessibilityFindings } from './support/check-accessibility.ts';
import { openPage, signIn } from './support/open-page.ts';

const phone = { width: 390, height: 844 };
const visitors = {
  iphone: {
    viewport: phone,
    userAgent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  },
  olderIphone: {
    viewport: phone,
    userAgent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_3_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.3 Mobile/15E148 Safari/604.1',
  },
  android: {
    viewport: phone,
    userAgent:
      'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
  },
  computer: {
    viewport: { width: 1280, height: 900 },
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0',
  },
} satisfies Record<string, BrowserContextOptions>;

let browser: Browser;
let service: TestService;

beforeAll(async () => {
  [browser, service] = await Promise.all([launchBrowser(), startService()]);
  service.startWorker(createMockNetwork({ delayMs: 0 }));
});
afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
afterAll(async () => {
  await browser.close();
  await service.stop();
});

/** The page of a link, which must log no error and ask no other host. */
async function visit(url: string, options: BrowserContextOptions) {
  const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en', ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(service.url) && !request.url().startsWith('data:'))
      faults.push(request.url());
  });
  await page.goto(url);
  return { page, expectClean: () => expect(faults).toEqual([]) };
}

async function newLink(body: object = {}): Promise<{ url: string; iccid: string }> {
  const iccid = await insertEsim(service);
  return (await call(service, 'POST', `/v1/esims/${iccid}/install_links`, { body })).json;
}

function simulate(iccid: string, body: object) {
  return call(service, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, { body });
}

async function findings(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await accessibilityFindings(page)).map((finding) => `${colorScheme}: ${finding}`));
  }
  const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement);
  return scrollWidth > clientWidth ? [...found, `the page is ${scrollWidth} wide`] : found;
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

test('a person orders an eSIM, sends its link, and the other one installs it on an iPhone, is told to be online, and later sees the data left', async () => {
  const desk = await openPage(browser, service.url);
  await signIn(desk.page, service.url, service.key);
  await desk.page.getByRole('link', { name: 'Orders & eSIMs' }).click();
  await desk.page.getByRole('button', { name: 'Order an eSIM' }).click();
  const dialog = desk.page.getByRole('dialog');
  await dialog.getByLabel('Product').selectOption('prod_europe_5gb_30d');
  await dialog.getByRole('button', { name: 'Order', exact: true }).click();
  await desk.page.waitForURL(/\/executions\//);
  await desk.page.getByRole('button', { name: 'Create install link' }).click();
  await desk.page.getByRole('button', { name: 'Copy', exact: true }).click();
  await desk.page.getByText('Copied').waitFor();
  const url = await desk.page.evaluate(() => navigator.clipboard.readText());
  const printed = desk.page.getByRole('img', { name: 'QR code of the install link' });
  expect(decode(fromPng(await printed.screenshot())).data).toBe(url);
  const link = await desk.page.getByRole('link', { name: 'Open the eSIM' }).getAttribute('href');
  const iccid = link?.split('/').at(-1) ?? '';

  const { page, expectClean } = await visit(url, visitors.iphone);
  await heading(page, 'Install your eSIM');
  expect(await page.content()).not.toContain('LPA:');
  await page.getByRole('button', { name: 'Install eSIM' }).click();
  const { lpa } = (await call(service, 'GET', `/v1/esims/${iccid}/install`)).json;
  expect(await page.getByRole('link', { name: 'Open eSIM setup' }).getAttribute('href')).toBe(
    `https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=${lpa}`,
  );
  await simulate(iccid, { action: 'download' });
  await heading(page, 'Your eSIM is downloaded');
  await simulate(iccid, { action: 'install' });
  await heading(page, 'Your eSIM is installed');
  expect(await page.content()).not.toContain('LPA:');
  await simulate(iccid, { action: 'attach', country: 'FR' });
  await heading(page, 'You are online');
  await page.getByText('5 GB').waitFor();
  expectClean();

  await simulate(iccid, { action: 'use_data', bytes: 4_500_000_000 });
  const later = await visit(url, visitors.iphone);
  await heading(later.page, 'You are online');
  await later.page.getByText('500 MB').waitFor();
  expect(await findings(later.page)).toEqual([]);
  later.expectClean();

  await desk.page.goto(`${service.url}/dashboard/esims/${iccid}`);
  await desk.page.getByText(/^opened .* ago$/).waitFor();
  desk.expectClean();
});

describe('without a script', () => {
  test('an Android phone gets its button, and a reload shows how far it is', async () => {
    const { url, iccid } = await newLink();
    const { page } = await visit(url, { ...visitors.android, javaScriptEnabled: false });
    await page.getByRole('button', { name: 'Install eSIM' }).click();
    const setup = page.getByRole('link', { name: 'Open eSIM setup' });
    expect(await setup.getAttribute('href')).toMatch(
      /^https:\/\/esimsetup\.android\.com\/.*SECRET-MATCHING-ID$/,
    );
    await simulate(iccid, { action: 'enable' });
    await page
      .locator('h2', { hasText: 'Progress' })
      .locator('~ p')
      .getByRole('link', { name: 'Check again' })
      .first()
      .click();
    await heading(page, 'Your eSIM is installed');
  });
});

test('a computer shows a QR code that a phone can scan', async () => {
  const { url } = await newLink();
  const { page, expectClean } = await visit(url, visitors.computer);
  await page.getByRole('button', { name: 'Show QR code' }).click();
  const qr = page.getByRole('img', { name: 'QR code that installs the eSIM' });
  expect(decode(fromPng(await qr.screenshot())).data).toBe('LPA:1$smdp.example$SECRET-MATCHING-ID');
  expectClean();
});

test('an iPhone before iOS 17.4 gets the code to type, and where', async () => {
  const { url } = await newLink();
  const { page } = await visit(url, visitors.olderIphone);
  await page.getByRole('button', { name: 'Show activation code' }).click();
  await page.getByText('Enter Details Manually').waitFor();
  expect(await page.getByText('SECRET-MATCHING-ID', { exact: true }).isVisible()).toBe(true);
});

test('a failed download opens the answer to its cause, and another try shows the code again', async () => {
  const { url, iccid } = await newLink();
  await service.db.pool.query(
    `update esims set profile_state = 'error', profile_error = $2 where iccid = $1`,
    [iccid, JSON.stringify({ code: 'device_memory_full', message: '', upstream: {} })],
  );
  const { page } = await visit(url, visitors.iphone);
  await heading(page, 'The installation did not finish');
  expect(await page.locator('details[open] summary').allInnerTexts()).toEqual(['“Cannot add another eSIM”?']);
  expect(await findings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Install eSIM' }).click();
  await page.getByRole('link', { name: 'Open eSIM setup' }).waitFor();
});

test('the page is accessible in both themes, before and after the tap, and Arabic reads from right to left', async () => {
  await call(service, 'PATCH', '/v1/branding', {
    body: { color: '#facc15', support_url: 'mailto:help@shop.example', name: 'Nomad' },
  });
  // The languages differ in their texts only; one of each direction is enough.
  for (const locale of ['en', 'ar']) {
    const { url } = await newLink();
    const { page, expectClean } = await visit(url, { ...visitors.iphone, locale });
    expect(await page.locator('html').getAttribute('lang')).toBe(locale);
    expect([locale, await findings(page)]).toEqual([locale, []]);
    await page.locator('form button').click();
    await page.locator('a.button').waitFor();
    expect([locale, await findings(page)]).toEqual([locale, []]);
    const isMirrored = await page.evaluate(() => getComputedStyle(document.body).direction === 'rtl');
    expect([locale, isMirrored]).toEqual([locale, locale === 'ar']);
    expectClean();
    await page.context().close();
  }
});

test('a link that has ended says so', async () => {
  const { page } = await visit(`${service.url}/i/unknown`, visitors.android);
  await heading(page, 'This link has ended');
  expect(await findings(page)).toEqual([]);
});
