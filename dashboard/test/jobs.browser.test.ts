import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { runRecoveries } from '../../server/src/notify/webhooks/recoveries/run-recoveries.ts';
import { createDatabaseClock } from '../../server/src/platform/db/database-clock.ts';
import { startHeartbeat } from '../../server/src/platform/processes/start-heartbeat.ts';
import { createThroughput } from '../../server/src/platform/telemetry/throughput.ts';
import { launchBrowser } from '../../server/test/support/browser.ts';
import { call, provision } from '../../server/test/support/client.ts';
import { type Receiver, startReceiver } from '../../server/test/support/receiver.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { addEvents } from './support/fill-account.ts';
import { openPage, signIn } from './support/open-page.ts';

let browser: Browser;
let service: TestService;
let receiver: Receiver;
let page: Page;

beforeAll(async () => {
  [browser, service, receiver] = await Promise.all([
    launchBrowser(),
    startService({ requestLogLevel: 'errors' }),
    startReceiver(),
  ]);
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startSequencer();
  service.startSender();
  ({ page } = await openPage(browser, service.url));
  await signIn(page, service.url, service.key);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
  await receiver.stop();
});

const button = (name: string, within: Page | Locator = page) =>
  within.getByRole('button', { name, exact: true });
const visit = (path: string) => page.goto(`${service.url}/dashboard${path}`);

async function openSection(name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

/** Confirms, and types the end of the id if the dialog asks for it. */
async function confirm(
  action: string,
  id: string | null,
  within: Locator = page.locator('main'),
): Promise<void> {
  await button(`${action}…`, within).click();
  const dialog = within.page().getByRole('dialog', { name: action });
  if (id !== null) await dialog.getByLabel('Last four characters').fill(id.slice(-4));
  await button(action, dialog).click();
}

/** Reads a secret that is shown once, and closes its dialog. */
async function takeSecret(dialog: string): Promise<string> {
  const shown = page.getByRole('dialog', { name: dialog });
  const secret = await shown.locator('.secret').textContent();
  await button('I have stored it', shown).click();
  await shown.waitFor({ state: 'hidden' });
  return secret ?? '';
}

const idInPath = () => new URL(page.url()).pathname.split('/').at(-1) ?? '';

test('an eSIM is used in the simulator, suspended, resumed, topped up and terminated', async () => {
  const order = await provision(service);
  const { json } = await until(
    () => call(service, 'GET', `/v1/executions/${order.json.id}`),
    ({ json: { status } }) => status === 'succeeded',
  );
  await visit(`/esims/${json.iccid}`);
  for (const [step, told] of [
    ['Download', 'A device downloaded the profile.'],
    ['Install', 'A device installed the profile.'],
    ['Enable', 'A device enabled the profile.'],
    ['Attach in FR', 'The eSIM attached to a network for the first time'],
  ] as const) {
    await button(step).click();
    await page.getByText(told).waitFor();
  }
  await confirm('Suspend', null);
  await button('Resume').click();
  await button('Suspend…').waitFor();
  await button('Top up').click();
  await button('Add bundle', page.getByRole('dialog', { name: 'Top up' })).click();
  await page.locator('.bundle').nth(1).waitFor();
  await confirm('Terminate', json.iccid);
  await page.getByText('Terminated').first().waitFor();
  expect((await call(service, 'GET', `/v1/esims/${json.iccid}`)).json.status).toBe('terminated');
});

test('a click after an answer that could not be read repeats the order: there is one', async () => {
  const answers: { id: string }[] = [];
  await page.route('**/v1/esims', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    const response = await route.fetch();
    const isFirst = answers.push(await response.json()) === 1;
    return isFirst ? route.fulfill({ status: 202, body: '{"id": "exec_' }) : route.fulfill({ response });
  });
  await openSection('eSIMs');
  await button('Order an eSIM').click();
  const dialog = page.getByRole('dialog', { name: 'Order an eSIM' });
  await button('Order', dialog).click();
  await dialog.getByRole('alert').waitFor();
  await button('Order', dialog).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.unroute('**/v1/esims');
  const [first, second] = answers;
  expect(second?.id).toBe(first?.id);
});

test('an endpoint is added, probed, gets a new secret, and recovers what it missed while it was disabled', async () => {
  await openSection('Webhooks');
  await button('Add an endpoint').click();
  const dialog = page.getByRole('dialog', { name: 'Add an endpoint' });
  await dialog.getByLabel('URL', { exact: true }).fill('not a url');
  await button('Add', dialog).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('URL', { exact: true }).fill(`${receiver.url}/hooks`);
  await dialog.getByLabel('Only these').check();
  await dialog.getByLabel('Other types').fill('test.missed');
  await button('Add', dialog).click();
  const secret = await takeSecret('Add an endpoint');
  await page.getByRole('link', { name: '/hooks' }).click();
  await button('Probe').click();
  await page.getByText('The probe got 200').waitFor();
  const id = idInPath();
  await confirm('Rotate secret', id);
  const next = await takeSecret('The new signing secret');
  expect([secret, next]).toEqual([expect.stringMatching(/^whsec_/), expect.stringMatching(/^whsec_/)]);
  expect(next).not.toBe(secret);

  await call(service, 'PATCH', `/v1/webhook_endpoints/${id}`, { body: { status: 'disabled' } });
  const missed = await call(service, 'POST', '/v1/events/test', { body: { type: 'test.missed', data: {} } });
  await page.reload();
  const missing = page.getByRole('region', { name: 'Missed events' });
  await missing.getByText('1 event did not arrive').waitFor();
  await missing.getByText('Nothing can be sent before it is resumed.').waitFor();
  await button('Resume').click();
  await missing.getByText('1 event did not arrive').waitFor();
  await Promise.all([page.waitForResponse(/\/recover$/), button('Send them').click()]);
  await runRecoveries(service.db, service.service);
  await missing.getByText('All that it missed is sent or being sent.').waitFor();
  await until(
    async () => receiver.received,
    (received) => received.some(({ body }) => body.includes(missed.json.id)),
  );
});

test('a test event is sent, arrives in the list, and is replayed to all endpoints or to one', async () => {
  const body = { url: receiver.url, enabled_event_types: ['test.sent'] };
  await call(service, 'POST', '/v1/webhook_endpoints', { body });
  await openSection('Events');
  await button('Send a test event').click();
  const dialog = page.getByRole('dialog', { name: 'Send a test event' });
  await dialog.getByLabel('Type').fill('test.sent');
  await dialog.getByLabel('Data').fill('{"hello": ');
  await dialog.getByText('Data must be a JSON object').waitFor();
  await dialog.getByLabel('Data').fill('{"hello": "receiver"}');
  await button('Send', dialog).click();
  const row = page.locator('[data-row]').first();
  await row.getByText('test.sent').waitFor();
  await until(
    async () => receiver.received,
    (received) => received.some(({ body }) => body.includes('"hello":"receiver"')),
  );
  await row.getByRole('link', { name: /^evt_/ }).click();
  await page.getByRole('heading', { level: 1, name: 'test.sent' }).waitFor();
  await button('Replay to all').click();
  await page.locator('.delivery').nth(1).waitFor();
  await button('Replay').last().click();
  await page.locator('.delivery').nth(2).waitFor();
});

test('a key is created, rolled and revoked, which the audit log shows', async () => {
  await openSection('API keys');
  await button('Create a key').click();
  const dialog = page.getByRole('dialog', { name: 'Create a key' });
  await dialog.getByLabel('Name').fill('Warehouse');
  await button('Create', dialog).click();
  const first = await takeSecret('Create a key');
  const me = await call({ ...service, key: first }, 'GET', '/v1/me');
  expect(me.json.api_key.scopes).toEqual(['read']);
  const id: string = me.json.api_key.id;
  const row = page.locator(`[data-row="${id}"]`);
  await confirm('Roll', null, row);
  const second = await takeSecret('The new key');
  expect((await call({ ...service, key: second }, 'GET', '/v1/me')).status).toBe(200);
  await confirm('Revoke', id, row);
  await row.getByText('Revoked').waitFor();
  await until(
    () => call({ ...service, key: first }, 'GET', '/v1/me'),
    ({ status }) => status === 401,
  );
  await openSection('Audit log');
  for (const action of ['api_key.created', 'api_key.rolled', 'api_key.revoked'])
    await page.getByRole('table').getByText(action).first().waitFor();
});

test('a request that failed is found by its id, with what to do', async () => {
  const refused = await call(service, 'GET', '/v1/products/prod_none');
  const id = refused.headers.get('request-id') as string;
  await until(
    () => call(service, 'GET', `/v1/requests/${id}`),
    ({ status }) => status === 200,
  );
  await page.keyboard.press('/');
  await page.keyboard.type(id);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'GET /v1/products/prod_none' }).waitFor();
  await page.getByText('No product has the id "prod_none"').waitFor();
  await page.getByText('Check the id').first().waitFor();
});

test('an operator creates an account, limits and suspends it, sees what its own key would see, and closes it', async () => {
  const { page: own } = await openPage(browser, service.url);
  const operatorKey = await service.createKey({ scopes: ['operator'] });
  await signIn(own, service.url, operatorKey);
  await own.getByRole('link', { name: 'Accounts' }).click();
  await button('Create an account', own).click();
  const dialog = own.getByRole('dialog', { name: 'Create an account' });
  await dialog.getByLabel('Name').fill('Fjord Mobile');
  await button('Create', dialog).click();
  await button('Close', own.getByRole('dialog', { name: 'The first key of Fjord Mobile' })).click();
  const row = own.getByRole('row', { name: 'Fjord Mobile' });
  await button('Change', row).click();
  const change = own.getByRole('dialog', { name: 'Fjord Mobile' });
  await change.getByLabel('Maximum open orders').fill('7');
  await button('Save', change).click();
  await row.getByRole('cell', { name: '7', exact: true }).waitFor();
  const id = (await row.getAttribute('data-row')) ?? '';
  await button('Change', row).click();
  await confirm('Suspend', id, change);
  await row.getByText('Suspended').waitFor();
  await row.getByRole('link', { name: 'Fjord Mobile' }).click();
  await own.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await own.goBack();
  await button('Change', row).click();
  await change.getByLabel('Terminate its eSIMs too').check();
  await confirm('Close the account', id, change);
  await row.getByText('Closed').waitFor();
  expect(await button('Change', row).count()).toBe(0);
  const { json } = await call(service, 'GET', `/v1/operator/accounts/${id}`, { key: operatorKey });
  expect(json).toMatchObject({ status: 'closed', closing: { terminate_esims: true } });
});

test('an operator sees on the overview and in the list that the clock of a process is off', async () => {
  const { db, newUuid } = service.service;
  const heartbeat = await startHeartbeat({
    ...{ db, newUuid, clock: createDatabaseClock(), role: 'worker', version: '1.2.3' },
    report: () => ({
      ...{ cell: null, encryption_keys: [], iccid_ranges: [], certificates: [], networks: [] },
      clock_skew_ms: -31_000,
      throughput: createThroughput().read(),
    }),
    onError(error) {
      throw error;
    },
  });
  const { page: own } = await openPage(browser, service.url);
  await signIn(own, service.url, await service.createKey({ scopes: ['operator'] }));
  const notice = own.getByRole('status').filter({ hasText: 'is up to 31 s off PostgreSQL’s' });
  await notice.getByRole('link', { name: 'one process' }).click();
  await own.getByRole('heading', { level: 1, name: 'Processes' }).waitFor();
  await own.getByText('▲ -31.0 s').waitFor();
  await heartbeat.stop();
  await own.getByRole('link', { name: 'Overview' }).click();
  await own.getByText('nothing is due').first().waitFor();
  await notice.waitFor({ state: 'hidden' });
});

test('an operator who goes from one account to another never sees the first one’s data as the other’s', async () => {
  const { page: own } = await openPage(browser, service.url);
  await signIn(own, service.url, await service.createKey({ scopes: ['operator'] }));
  await service.createAccount('Second Mobile');
  const first = (await call(service, 'GET', '/v1/me')).json.account.id;
  await call(service, 'POST', '/v1/events/test', { body: { type: 'test.of_first', data: {} } });
  await own.goto(`${service.url}/dashboard/accounts/${first}`);
  await own.getByText('test.of_first').first().waitFor();
  await own.route('**/v1/events?*', () => {}); // what the second account has is not answered yet
  for (const name of ['back to the operator’s view', 'Accounts', 'Second Mobile'])
    await own.getByRole('link', { name }).click();
  await own.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  expect(await own.getByText('test.of_first').count()).toBe(0);
});

test('while the server is down, the page tries again, and nobody has to sign in anew', async () => {
  const { page: own } = await openPage(browser, service.url);
  await signIn(own, service.url, service.key);
  await own.route('**/api/session', (route) => route.fulfill({ status: 503 }), { times: 1 });
  await own.reload();
  await own.getByText('The server answered 503. Trying again…').waitFor();
  await own.getByRole('navigation', { name: 'Sections' }).waitFor();
});

test('events come to the top of the home page, and wait behind a button while the pointer is on them', async () => {
  const account = { ...service, ...(await service.createAccount('Busy Mobile')) };
  const { page: own } = await openPage(browser, service.url);
  await signIn(own, service.url, account.key);
  const newest = own.getByRole('region', { name: 'Newest events' });
  await newest.getByRole('status').filter({ hasText: 'Live' }).waitFor();
  const send = async () =>
    (await call(account, 'POST', '/v1/events/test', { body: { type: 'test.live', data: {} } })).json.id;
  const rowOf = (id: string) => newest.locator(`[data-row="${id}"]`);

  await newest.hover();
  const first = await send();
  await button('1 new', newest).click(); // also if there was no event to hold
  await rowOf(first).waitFor();

  await own.mouse.move(0, 0);
  const second = await send();
  await rowOf(second).waitFor();
  const rows = await newest.locator('[data-row]').evaluateAll((all) => all.map((row) => row.dataset['row']));
  expect(rows).toEqual([second, first]);

  await newest.hover();
  const readsOf = await countReads(own);
  for (const count of [250, 1]) {
    await addEvents(account, count, { type: 'test.many', data: {} });
    await until(
      () => newest.getByRole('button', { name: /new$/ }).innerText(),
      (text) => text === '200 new', // a tab keeps no more of them
    );
  }
  // A timer of the page that ends after all those that the events have set.
  await own.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1_000)));
  const overviews = await readsOf('overview');
  expect(overviews).toBeGreaterThan(0);
  expect(overviews).toBeLessThan(25); // one for all events of half a second
  expect(await readsOf('products')).toBe(0);
});

/** Counts what the page asks for, also what it gives up before the browser has sent it. */
async function countReads(own: Page): Promise<(what: string) => Promise<number>> {
  await own.evaluate(() => {
    const asked: string[] = [];
    const send = fetch;
    window.fetch = (...request) => {
      asked.push(new URL(String(request[0]), location.href).pathname);
      return send(...request);
    };
    Object.assign(window, { asked });
  });
  return (what) =>
    own.evaluate((end) => {
      const { asked } = window as unknown as { asked: string[] };
      return asked.filter((path) => path.endsWith(end)).length;
    }, `/v1/${what}`);
}
