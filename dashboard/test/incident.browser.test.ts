import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../../server/test/support/browser.ts';
import { call, provision } from '../../server/test/support/client.ts';
import { newIccid } from '../../server/test/support/fake-smdp.ts';
import { type Receiver, startReceiver } from '../../server/test/support/receiver.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { type SmdpSetup, startSmdpSetup } from '../../server/test/support/smdp-setup.ts';
import { until } from '../../server/test/support/until.ts';
import { accessibilityFindings } from './support/check-accessibility.ts';
import { countClicks } from './support/count-clicks.ts';
import { startLiveWorker } from './support/live-worker.ts';
import { type Opened, openPage, signIn } from './support/open-page.ts';

let browser: Browser;
let service: TestService;
let setup: SmdpSetup;
let receiver: Receiver;
let worker: Awaited<ReturnType<typeof startLiveWorker>>;
let acme: { url: string; key: string };
let opened: Opened;
let page: Page;
let clicks: Awaited<ReturnType<typeof countClicks>>;

beforeAll(async () => {
  [browser, service, setup, receiver] = await Promise.all([
    launchBrowser(),
    startService({ mode: 'live' }),
    startSmdpSetup(),
    startReceiver(),
  ]);
  acme = { url: service.url, key: (await service.createAccount('Acme Travel')).key };
  worker = await startLiveWorker(service, setup);
  opened = await openPage(browser, service.url);
  page = opened.page;
  clicks = await countClicks(page);
  await signIn(page, service.url, await service.createKey({ scopes: ['operator'] }));
});
afterAll(async () => {
  await browser.close();
  await worker.stop();
  await service.stop();
  await setup.stop();
  await receiver.stop();
});

/** An order of the account, and how it ended. */
async function order() {
  const { json } = await provision(acme);
  return ended(json.id);
}

async function ended(id: string) {
  const look = async () => (await call(acme, 'GET', `/v1/executions/${id}`)).json;
  return until(look, ({ status }) => status === 'succeeded' || status === 'failed');
}

async function openOverview(): Promise<void> {
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
}

const panel = (name: string) => page.getByRole('region', { name });
const row = (inside: Locator, text: string | RegExp) => inside.getByRole('row').filter({ hasText: text });

test('an endpoint that fails is on the overview with its owner, its cause and what to do, and leaves it once it works', async () => {
  receiver.answer((response) => {
    response.statusCode = 507;
    response.end('the disk is full');
  });
  service.startSequencer();
  service.startSender({ retryScheduleMs: Array(1_000).fill(500) });
  const { json: endpoint } = await call(acme, 'POST', '/v1/webhook_endpoints', {
    body: { url: `${receiver.url}/hooks`, enabled_event_types: ['*'] },
  });
  await order();

  await openOverview();
  const failing = row(panel('Failing endpoints'), '/hooks');
  await failing.getByText(/Failing, \d+ failure/).waitFor();
  await failing.getByRole('link', { name: 'Acme Travel' }).waitFor();
  await failing.getByText('507').waitFor();
  await failing.getByText('Tell the account to fix its receiver.').waitFor();

  await failing.getByRole('link', { name: '/hooks' }).click();
  await page.getByText('Fix the receiver, then probe it.').waitFor();
  await row(panel('Attempts'), 'the disk is full').first().waitFor();
  expect(page.url()).toContain(endpoint.id);

  receiver.answer((response) => response.end('ok'));
  await page.getByRole('link', { name: 'back to the operator’s view' }).click();
  await panel('Failing endpoints').getByText('No enabled endpoint is failing.').waitFor();
});

test('an SM-DP+ that is down is shown with its cause; its failures are one group, which succeeds when it is retried later', async () => {
  setup.smdp.onCall(() => ({ status: 503, isDone: false }));
  const lost = [await order(), await order(), await order()];
  expect(lost.map(({ error }) => error.code)).toEqual(Array(3).fill('network_unavailable'));

  await openOverview();
  const network = row(panel('Networks'), 'SM-DP+');
  await network.getByText('✕ Unreachable').waitFor();
  await network.getByText('its gateway is up, but the SM-DP+ behind it is down').waitFor();
  const group = row(panel('Failures, by cause'), 'network_unavailable');
  await group.getByText('3 failed').waitFor();
  await group.getByText('HTTP 503').first().waitFor();
  await group.getByText('retry those that failed').waitFor();

  expect(await accessibilityFindings(page)).toEqual([]);

  // Too early: one order is tried, and the rest stays.
  await group.getByRole('button', { name: 'Retry group', exact: true }).click();
  await group.getByText('The last retry stopped').waitFor();

  setup.smdp.onCall(() => undefined);
  await group.getByRole('button', { name: 'Retry group', exact: true }).click();
  await panel('Failures, by cause').getByText('No order has failed or waits for the network.').waitFor();
  await network.getByText('Reachable').waitFor();
  for (const { id } of lost.slice(1)) expect(await lastOf(id)).toMatchObject({ status: 'succeeded' });
});

/** The order that a failed one was repeated by in the end. */
async function lastOf(id: string) {
  let execution = await ended(id);
  while (execution.retried_by !== undefined) execution = await ended(execution.retried_by);
  return execution;
}

test('an order with unknown outcome is found with its call id and goes on with its profile, without a second order', async () => {
  setup.smdp.onCall(({ name }) => (name === 'downloadOrder' ? 'lose' : undefined));
  const before = new Set(setup.smdp.profiles.keys());
  const lost = await order();
  expect(lost.error.code).toBe('outcome_unknown');
  setup.smdp.onCall(() => undefined);
  const made = setup.smdp.calls.at(-1);
  const ordersSent = () => setup.smdp.calls.filter(({ name }) => name === 'downloadOrder').length;
  const sentBefore = ordersSent();

  await openOverview();
  const group = row(panel('Failures, by cause'), 'outcome_unknown');
  await clicks.begin();
  await group.getByText('Look up each call id at the SM-DP+').waitFor();
  await group.getByRole('link', { name: 'Resolve…' }).click();
  await page.getByRole('heading', { name: 'Resolve the unknown outcome' }).waitFor();
  const callId = await panel('Resolve the unknown outcome').locator('code').first().textContent();
  expect(callId).toBe(made?.callId);
  expect(await accessibilityFindings(page)).toEqual([]);

  // What an operator finds at the SM-DP+ under this call id.
  const reserved = [...setup.smdp.profiles.values()].find(({ iccid }) => !before.has(iccid));
  await page.getByLabel('ICCID of that profile').fill(reserved?.iccid as string);
  await page.getByRole('button', { name: 'Adopt profile', exact: true }).click();
  await panel('Resolution').getByText('Closed.').waitFor();
  await clicks.expectDocumented('resolve an unknown outcome');
  await panel('Resolution').getByRole('link', { name: /exec_/ }).click();
  await page.getByRole('heading', { level: 1 }).getByText('Succeeded').waitFor();
  await page.getByRole('link', { name: reserved?.iccid as string }).waitFor();

  expect(await lastOf(lost.id)).toMatchObject({ status: 'succeeded', iccid: reserved?.iccid });
  expect(reserved).toMatchObject({ state: 'Released', reservations: 1 });
  expect(ordersSent()).toBe(sentBefore);
});

test('ICCIDs that run out are shown before and after with what to do, and the order that failed succeeds after that', async () => {
  const [first, last] = [newIccid(800_000), newIccid(800_001)];
  await worker.stop();
  worker = await startLiveWorker(service, setup, `${first}-${last}`);
  await order();
  await countedADayAgo(first);

  await openOverview();
  await panel('ICCID stock').getByText('The ICCIDs last for 1 day.').waitFor();
  await row(panel('ICCID stock'), first).getByRole('img', { name: '1 of 2 used' }).waitFor();
  await clicks.begin();
  await order();
  expect(await order()).toMatchObject({ error: { code: 'out_of_stock' } });

  await page.getByRole('link', { name: 'Networks & stock' }).click();
  await page.reload(); // stock is read again only every 20 s
  await panel('ICCID stock').getByText('No ICCID is left: new orders fail.').waitFor();
  await panel('ICCID stock').getByText('SIMPLANE_ICCID_RANGES').waitFor();
  await row(panel('ICCID stock'), first).getByText('Empty').waitFor();

  await worker.stop();
  worker = await startLiveWorker(service, setup, `${first}-${last},8988304`);
  await panel('ICCID stock').getByRole('link', { name: 'orders that failed' }).click();
  await row(page.getByRole('table'), 'out_of_stock').getByRole('link', { name: /exec_/ }).click();
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  await page.getByRole('term').filter({ hasText: 'Retried by' }).waitFor();
  await clicks.expectDocumented('stock runs low');
  await page.getByRole('definition').getByRole('link', { name: /exec_/ }).click();
  await page.getByRole('heading', { level: 1 }).getByText('Succeeded').waitFor();
  await page.getByRole('link', { name: '8988304' }).waitFor();
  opened.expectClean();
});

/** As if the range had been counted before today's order. */
async function countedADayAgo(first: string): Promise<void> {
  await service.db.pool.query(
    `insert into iccid_range_hours (first_number, hour, taken, counted_at)
     values ($1, date_trunc('hour', now() - interval '1 day'), 0, now() - interval '1 day')`,
    [first.slice(0, -1)],
  );
}
