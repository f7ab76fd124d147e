import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser } from '../../server/test/support/browser.ts';
import type { TestService } from '../../server/test/support/service.ts';
import { findingsInAllLooks } from './support/check-accessibility.ts';
import { hostile, type Screen, startFilledService } from './support/filled-service.ts';
import { openPage, signIn } from './support/open-page.ts';

let browser: Browser;
let filled: Awaited<ReturnType<typeof startFilledService>>;
let service: TestService;
let ids: typeof filled.ids;

beforeAll(async () => {
  [browser, filled] = await Promise.all([launchBrowser(), startFilledService()]);
  ({ service, ids } = filled);
});
afterAll(async () => {
  await browser.close();
  await filled.stop();
});

/** Goes there inside the page, as a link does: to load the page again takes seven times the CPU. */
async function visit(page: Page, [path, heading]: Screen): Promise<void> {
  await page.evaluate((path) => {
    history.pushState(null, '', `/dashboard${path}`);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
}

const esimScreen = (): Screen => [`/esims/${ids.iccid}`, new RegExp(ids.iccid)];

test('every screen of an account is accessible and fits in both themes, also on a phone, stays on this host, and shows hostile texts as text', async () => {
  const { page, expectClean } = await openPage(browser, service.url);
  await signIn(page, service.url, service.key);
  for (const screen of [...filled.accountScreens, ['/nowhere', 'Not found'] satisfies Screen]) {
    await visit(page, screen);
    expect([screen[0], await findingsInAllLooks(page)]).toEqual([screen[0], []]);
  }
  await visit(page, esimScreen());
  await page.getByText(`note=${hostile}`).waitFor();
  await visit(page, [`/events/${ids.event}`, 'test.hostile']);
  await page.getByText('Show', { exact: true }).click();
  await page.locator('pre.answer').getByText("alert('x')").waitFor();
  expectClean();
});

test('every screen of the operator is accessible and fits in both themes, also on a phone, and stays on this host', async () => {
  const { page, expectClean } = await openPage(browser, service.url);
  await signIn(page, service.url, await service.createKey({ scopes: ['operator'] }));
  for (const screen of filled.operatorScreens) {
    await visit(page, screen);
    expect([screen[0], await findingsInAllLooks(page)]).toEqual([screen[0], []]);
  }
  expectClean();
});

describe('by keyboard alone', () => {
  test('rows are reached with j and k, opened with Enter, and sections with g', async () => {
    const { page, expectClean } = await openPage(browser, service.url);
    await signIn(page, service.url, service.key);
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
    await page.locator('[data-row]').nth(1).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('data-row'))).toBe(
      await page.locator('[data-row]').first().getAttribute('data-row'),
    );
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/events\/evt_/);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    expectClean();
  });

  test('a search finds an id of any kind and goes there', async () => {
    const { page } = await openPage(browser, service.url);
    await signIn(page, service.url, service.key);
    for (const [id, path] of [
      [ids.event, `/events/${ids.event}`],
      [ids.iccid, `/esims/${ids.iccid}`],
      [ids.delivery, `/events/${ids.event}`],
      [ids.bundle, `/esims/${ids.iccid}`],
      [ids.endpoint, `/webhooks/${ids.endpoint}`],
      ['order-4711', `/executions/${ids.execution}`],
      ['prod_europe_5gb_30d', '/esims?product=prod_europe_5gb_30d'],
    ] as const) {
      await page.keyboard.press('/');
      await page.keyboard.type(id);
      await page.keyboard.press('Enter');
      await page.waitForURL(`**${path}`);
      await page.locator('#search').fill('');
      await page.keyboard.press('Escape');
    }
  });
});

test('an action shows its curl without the key, and a wrong key is refused in words', async () => {
  const { page } = await openPage(browser, service.url);
  await page.goto(`${service.url}/dashboard`);
  await page.getByLabel('API key').fill('sp_test_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('No such API key').waitFor();
  await signIn(page, service.url, service.key);
  await visit(page, esimScreen());
  await page.getByRole('button', { name: 'API calls' }).click();
  await page.getByRole('button', { name: 'Suspend: show as curl' }).click();
  const curl = await page.getByRole('dialog').locator('pre').textContent();
  expect(curl).toContain(`curl -X POST ${service.url}/v1/esims/${ids.iccid}/suspend`);
  expect(curl).toContain('$SIMPLANE_API_KEY');
  expect(curl).not.toContain(service.key);
});

test('a session of an account that is in another cell now leads to signing in', async () => {
  const { page } = await openPage(browser, service.url);
  await signIn(page, service.url, service.key);
  const cookies = await page.context().cookies();
  await page.context().addCookies(cookies.map((cookie) => ({ ...cookie, value: `eu.${cookie.value}` })));
  await page.goto(`${service.url}/dashboard`);
  await page.getByLabel('API key').waitFor();
});
