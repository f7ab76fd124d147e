import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { launchBrowser } from '../../server/test/support/browser.ts';
import { call } from '../../server/test/support/client.ts';
import { type Receiver, startReceiver } from '../../server/test/support/receiver.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { accessibilityFindings } from './support/check-accessibility.ts';
import { openPage, signIn } from './support/open-page.ts';

/** Everything a tenant or a receiver can put into a text that the page shows. */
const hostile = `<img src=x onerror="alert('x')"><script>alert('x')</script>"'><svg onload=alert(1)>`;

let browser: Browser;
let service: TestService;
let receiver: Receiver;
let ids: Record<'iccid' | 'event' | 'delivery' | 'bundle' | 'endpoint' | 'execution', string>;

beforeAll(async () => {
  [browser, service, receiver] = await Promise.all([launchBrowser(), startService(), startReceiver()]);
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startSequencer();
  service.startSender({ retryScheduleMs: [3_600_000] });
  receiver.answer((response) => {
    response.statusCode = 500;
    response.end(hostile);
  });
  const endpoint = await call(service, 'POST', '/v1/webhook_endpoints', {
    body: {
      url: `${receiver.url}/?q=${encodeURIComponent(hostile)}`,
      enabled_event_types: ['*'],
      description: hostile,
    },
  });
  const order = await call(service, 'POST', '/v1/esims', {
    idempotencyKey: 'order-4711',
    body: { product_id: 'prod_europe_5gb_30d', metadata: { note: hostile }, description: hostile },
  });
  const done = await until(
    () => call(service, 'GET', `/v1/executions/${order.json.id}`),
    ({ json }) => json.status === 'succeeded',
  );
  const event = await call(service, 'POST', '/v1/events/test', {
    body: { type: 'test.hostile', data: { text: hostile, iccid: hostile, execution_id: hostile } },
  });
  const deliveries = await until(
    () => call(service, 'GET', `/v1/events/${event.json.id}/deliveries`),
    ({ json }) => json.data[0]?.attempts.length > 0,
  );
  const bundles = await call(service, 'GET', `/v1/esims/${done.json.iccid}/bundles`);
  ids = {
    iccid: done.json.iccid,
    event: event.json.id,
    delivery: deliveries.json.data[0].id,
    bundle: bundles.json.data[0].id,
    endpoint: endpoint.json.id,
    execution: order.json.id,
  };
});
afterAll(async () => {
  await browser.close();
  await service.stop();
  await receiver.stop();
});

const accountScreens = (): [path: string, heading: string | RegExp][] => [
  ['/', 'Home'],
  ['/esims', 'Orders & eSIMs'],
  ['/esims?view=orders', 'Orders & eSIMs'],
  [`/esims/${ids.iccid}`, new RegExp(ids.iccid)],
  [`/executions/${ids.execution}`, /exec_/],
  ['/events', 'Events'],
  [`/events/${ids.event}`, 'test.hostile'],
  ['/webhooks', 'Webhooks'],
  [`/webhooks/${ids.endpoint}`, /127\.0\.0\.1/],
  ['/keys', 'API keys'],
  ['/requests', 'Request log'],
  ['/audit', 'Audit log'],
  ['/nowhere', 'Not found'],
];

const operatorScreens: [path: string, heading: string | RegExp][] = [
  ['/', 'Overview'],
  ['/accounts', 'Accounts'],
  ['/executions', 'Orders'],
  ['/endpoints', 'Endpoints'],
  ['/networks', 'Networks & stock'],
  ['/processes', 'Processes'],
  ['/products', 'Catalog'],
  ['/audit', 'Audit log'],
];

async function visit(page: Page, path: string, heading: string | RegExp): Promise<void> {
  await page.goto(`${service.url}/dashboard${path}`);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await until(
    () => page.getByText('Loading…').count(),
    (count) => count === 0,
  );
}

/** What axe finds in both themes; one visit is enough for both. */
async function findingsOf(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await accessibilityFindings(page)).map((finding) => `${colorScheme}: ${finding}`));
  }
  return found;
}

test('every screen of an account is accessible in both themes, stays on this host, and shows hostile texts as text', async () => {
  const { page, expectClean } = await openPage(browser, service.url);
  await signIn(page, service.url, service.key);
  for (const [path, heading] of accountScreens()) {
    await visit(page, path, heading);
    expect([path, await findingsOf(page)]).toEqual([path, []]);
  }
  await visit(page, `/esims/${ids.iccid}`, new RegExp(ids.iccid));
  await page.getByText(`note=${hostile}`).waitFor();
  await visit(page, `/events/${ids.event}`, 'test.hostile');
  await page.getByText('Show', { exact: true }).click();
  await page.locator('pre.answer').getByText("alert('x')").waitFor();
  expectClean();
});

test('every screen of the operator is accessible in both themes and stays on this host', async () => {
  const { page, expectClean } = await openPage(browser, service.url);
  await signIn(page, service.url, await service.createKey({ scopes: ['operator'] }));
  for (const [path, heading] of operatorScreens) {
    await visit(page, path, heading);
    expect([path, await findingsOf(page)]).toEqual([path, []]);
  }
  expectClean();
});

test('at 390 px nothing is wider than the screen', async () => {
  const { page } = await openPage(browser, service.url, { width: 390 });
  await signIn(page, service.url, service.key);
  for (const [path, heading] of accountScreens()) {
    await visit(page, path, heading);
    // It has a URL that is one long word.
    if (path === '/') await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
    await until(
      () => page.evaluate(() => document.documentElement.scrollWidth),
      (width) => width === 390,
    );
  }
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
  await visit(page, `/esims/${ids.iccid}`, new RegExp(ids.iccid));
  await page.getByRole('button', { name: 'Suspend: show as curl' }).click();
  const curl = await page.getByRole('dialog').locator('pre').textContent();
  expect(curl).toContain(`curl -X POST ${service.url}/v1/esims/${ids.iccid}/suspend`);
  expect(curl).toContain('$SIMPLANE_API_KEY');
  expect(curl).not.toContain(service.key);
});
