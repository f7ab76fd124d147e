import { readFile } from 'node:fs/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { countEvents } from '../../server/src/views/overview/count-events.ts';
import { launchBrowser } from '../../server/test/support/browser.ts';
import { call } from '../../server/test/support/client.ts';
import { type Receiver, startReceiver } from '../../server/test/support/receiver.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { countClicks } from './support/count-clicks.ts';
import { openPage, signIn } from './support/open-page.ts';

/**
 * What people come to the dashboard for, a test each, with the clicks that docs/dashboard.md promises. Two more are in
 * incident.browser.test.ts, which has a network that can break.
 */
let browser: Browser;
let service: TestService;
let receiver: Receiver;
let page: Page;
let clicks: Awaited<ReturnType<typeof countClicks>>;

beforeAll(async () => {
  [browser, service, receiver] = await Promise.all([launchBrowser(), startService(), startReceiver()]);
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startSequencer();
  service.startSender({ retryScheduleMs: [20] });
  for (const reference of ['TRV-1003', 'TRV-1004', 'TRV-1005', 'TRV-1006', 'TRV-1007'])
    await order({ product_id: 'prod_europe_5gb_30d', reference });
  await order({ product_id: 'prod_sandbox_declined', reference: 'TRV-1008' });
  await until(
    async () => {
      await countEvents(service.service);
      return (await call(service, 'GET', '/v1/overview')).json;
    },
    ({ failed_count: failed }) => failed === 1,
  );
  ({ page, clicks } = await openCounted(service.key));
});
afterAll(async () => {
  await browser.close();
  await service.stop();
  await receiver.stop();
});

async function openCounted(key: string) {
  const { page } = await openPage(browser, service.url);
  const clicks = await countClicks(page);
  await signIn(page, service.url, key);
  return { page, clicks };
}

async function order(body: object) {
  const { json } = await call(service, 'POST', '/v1/esims', { body });
  const look = async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json;
  return until(look, ({ finished_at: finished }) => finished !== null);
}

const button = (name: string, within: Page | Locator = page) =>
  within.getByRole('button', { name, exact: true });
const link = (name: string | RegExp, within: Page | Locator = page) => within.getByRole('link', { name });
const section = (name: string, on = page) =>
  link(name, on.getByRole('navigation', { name: 'Sections' })).click();
const dialog = (name: string | RegExp, on = page) => on.getByRole('dialog', { name });

/** Begins where everyone begins. */
async function goHome(): Promise<void> {
  await page.getByRole('searchbox').fill('');
  await section('Home');
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await clicks.begin();
}

async function search(text: string): Promise<void> {
  await page.keyboard.press('/');
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}

test('why did an order fail', async () => {
  await goHome();
  await link('1 declined').click();
  await link(/^exec_/, page.getByRole('row').filter({ hasText: 'TRV-1008' })).click();
  await page.locator('.error-note').getByText('declined').first().waitFor();
  await button('Order again').waitFor();
  await clicks.expectDocumented('why did an order fail');
});

test('send again what failed last night', async () => {
  receiver.answer((response) => {
    response.statusCode = 500;
    response.end('down');
  });
  const body = { url: `${receiver.url}/night`, enabled_event_types: ['test.night'] };
  await call(service, 'POST', '/v1/webhook_endpoints', { body });
  const sent = await Promise.all(
    [1, 2, 3].map((n) =>
      call(service, 'POST', '/v1/events/test', { body: { type: 'test.night', data: { n } } }),
    ),
  );
  await until(
    () => call(service, 'GET', '/v1/events?delivery=undelivered'),
    ({ json }) => json.data.length === 3,
  );
  receiver.answer((response) => response.end('ok'));

  await goHome();
  await section('Events');
  await page.getByLabel('Delivery').selectOption('undelivered');
  await page.getByLabel('When').selectOption('Last 24 hours');
  await page.getByText('Undelivered').nth(2).waitFor();
  await button('Send these 3 events again…').click();
  await button('Send these 3 events again', dialog('Send these 3 events again')).click();
  await until(
    async () => receiver.received.map(({ body }) => body),
    (bodies) => sent.every(({ json }) => bodies.filter((body) => body.includes(json.id)).length > 2),
  );
  await clicks.expectDocumented('send again what failed last night');
});

test('find an order by its own number', async () => {
  await goHome();
  await search('TRV-1007');
  await page.getByRole('button', { name: /^exec_/ }).click();
  await page.getByRole('definition').filter({ hasText: 'TRV-1007' }).waitFor();
  await page.getByRole('heading', { level: 1 }).getByText('Succeeded').waitFor();
  await clicks.expectDocumented('find an order by its own number');
});

/** The end of the ICCID of an order, as a caller would read it out. */
async function endOfIccid(reference: string): Promise<string> {
  const { json } = await call(service, 'GET', `/v1/esims?reference=${reference}`);
  return json.data[0].iccid.slice(-4);
}

test('a call about an ICCID, of which one knows the end', async () => {
  await goHome();
  const end = await endOfIccid('TRV-1007');
  await search(end);
  await page.waitForURL(new RegExp(`/esims/\\d+${end}$`));
  await page.getByText('The eSIM is ready to install.').waitFor();
  await clicks.expectDocumented('a call about an ICCID, of which one knows the end');
});

test('top up with the right product', async () => {
  await goHome();
  await search(await endOfIccid('TRV-1007'));
  await button('Top up').click();
  const form = dialog('Top up');
  // The cheapest that works wherever the eSIM works.
  await form.getByText('5.00 EUR · 1 GB').waitFor();
  await button('Add bundle', form).click();
  await page.locator('.bundle').filter({ hasText: 'Europe 1 GB' }).waitFor();
  await clicks.expectDocumented('top up with the right product');
});

test('a restricted key that ends on Friday', async () => {
  await goHome();
  await section('API keys');
  await button('Create a key').click();
  const form = dialog('Create a key');
  await form.getByLabel('Name').fill('Contractor');
  await form.getByLabel('Last day').fill('2100-01-01'); // a Friday
  await form.getByLabel('Allowed addresses').fill('127.0.0.1/32');
  await button('Create', form).click();
  const key = (await form.locator('.secret').textContent()) ?? '';
  await button('I have stored it', form).click();
  await page.getByRole('row').filter({ hasText: 'Contractor' }).getByText('read', { exact: true }).waitFor();
  const { json } = await call({ ...service, key }, 'GET', '/v1/me');
  expect(json.api_key).toMatchObject({ scopes: ['read'] });
  const keys = await call(service, 'GET', '/v1/api_keys');
  const made = keys.json.data.find(({ name }: { name: string }) => name === 'Contractor');
  expect(made).toMatchObject({
    expires_at: Date.parse('2100-01-02') / 1_000,
    allowed_cidrs: ['127.0.0.1/32'],
  });
  await clicks.expectDocumented('a restricted key that ends on Friday');
});

test('revoke a key', async () => {
  const { json } = await call(service, 'POST', '/v1/api_keys', {
    body: { name: 'Leaked', scopes: ['read'] },
  });
  await goHome();
  await section('API keys');
  const row = page.getByRole('row').filter({ hasText: 'Leaked' });
  await button('Revoke…', row).click();
  await dialog('Revoke').getByText('stops working within 5 seconds').waitFor();
  await dialog('Revoke').getByLabel('Last four characters').fill(json.id.slice(-4));
  await button('Revoke', dialog('Revoke')).click();
  await row.getByText('Revoked').waitFor();
  await clicks.expectDocumented('revoke a key');
});

test('pause an endpoint, and resume it', async () => {
  const body = { url: `${receiver.url}/shop`, enabled_event_types: ['esim.*'] };
  await call(service, 'POST', '/v1/webhook_endpoints', { body });
  await goHome();
  await section('Webhooks');
  await link('/shop').click();
  await button('Pause…').click();
  await dialog('Pause').getByText('nothing is sent to it').waitFor();
  await button('Pause', dialog('Pause')).click();
  await page.getByText('Paused by a request').waitFor();
  await clicks.expectDocumented('pause an endpoint, and resume it');
  await button('Resume').click();
  await page.getByRole('heading', { level: 1 }).getByText('Healthy').waitFor();
});

test('export the orders of the last week', async () => {
  await goHome();
  await section('Orders & eSIMs');
  await page.getByRole('tab', { name: 'Orders' }).click();
  await page.getByLabel('When').selectOption('Last 7 days');
  const saving = page.waitForEvent('download');
  await button('Export as CSV').click();
  const file = await saving;
  expect(file.suggestedFilename()).toMatch(/^simplane-orders-\d{4}-\d\d-\d\d\.csv$/);
  const [head = '', ...lines] = (await readFile(await file.path(), 'utf8')).trim().split('\r\n');
  expect(head.split(',')).toEqual(
    expect.arrayContaining(['id', 'type', 'status', 'reference', 'error.code']),
  );
  expect(lines.filter((line) => line.includes('esim.provision'))).toHaveLength(6);
  expect(lines.find((line) => line.includes('TRV-1008'))).toContain('declined');
  await clicks.expectDocumented('export the orders of the last week');
});

test('onboard an account', async () => {
  const operator = await openCounted(await service.createKey({ scopes: ['operator'] }));
  const own = operator.page;
  await operator.clicks.begin();
  await section('Accounts', own);
  await button('Create an account', own).click();
  await dialog('Create an account', own).getByLabel('Name').fill('Fjord Mobile');
  await button('Create', dialog('Create an account', own)).click();
  const form = dialog('The first key of Fjord Mobile', own);
  await button('Create the key', form).click();
  const key = (await form.locator('.secret').textContent()) ?? '';
  await button('I have stored it', form).click();
  const { json } = await call({ ...service, key }, 'GET', '/v1/me');
  expect(json).toMatchObject({
    account: { name: 'Fjord Mobile' },
    api_key: { scopes: ['read', 'write', 'admin'] },
  });
  await operator.clicks.expectDocumented('onboard an account');
});

test('an operator finds anything of any account on the screen that shows it, and acts for the account if the key may', async () => {
  const { json } = await call(service, 'GET', '/v1/esims?reference=TRV-1007');
  const { iccid } = json.data[0];
  const { id: account } = (await call(service, 'GET', '/v1/me')).json.account;
  const { page: own } = await openCounted(
    await service.createKey({ scopes: ['operator', 'operator_write'] }),
  );
  const lookFor = async (text: string) => {
    await own.keyboard.press('/');
    await own.locator('#search').fill(text);
    await own.keyboard.press('Enter');
  };
  await lookFor('TRV-1007');
  await own.getByRole('button', { name: /^exec_/ }).click();
  await own.waitForURL(/\/dashboard\/executions\/exec_/);
  await lookFor(iccid);
  await own.waitForURL(`**/accounts/${account}/esims/${iccid}`);
  await own.getByText('what you do here is audited').waitFor();
  await own.getByRole('button', { name: 'Suspend…' }).click();
  await own.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
  await own.getByRole('heading', { level: 1 }).getByText('Suspended').waitFor();
  await own.getByRole('link', { name: 'back to the operator’s view' }).click();
  await lookFor(account);
  await own.waitForURL(`**/accounts/${account}`);

  const { page: reader } = await openCounted(await service.createKey({ scopes: ['operator'] }));
  await reader.goto(`${service.url}/dashboard/accounts/${account}/esims/${iccid}`);
  await reader.getByRole('button', { name: 'Resume needs “operator_write”' }).waitFor();
});

test('a filter that matches nothing says so, and is cleared with a click', async () => {
  await page.goto(`${service.url}/dashboard/esims?view=orders&reference=none`);
  await page.getByText('The filters match none of the orders.').waitFor();
  await button('Clear the filters').click();
  await page.getByRole('row').filter({ hasText: 'TRV-1008' }).waitFor();
});

test('a key that may only read sees which scope each button needs', async () => {
  const { page: own } = await openCounted(await service.createKey({ scopes: ['read'] }));
  await own.getByRole('button', { name: 'Order an eSIM needs “write”' }).waitFor();
  await own.goto(`${service.url}/dashboard/keys`);
  await own.getByRole('button', { name: 'Create a key needs “admin”' }).waitFor();
});
