import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../../server/test/support/browser.ts';
import { call } from '../../server/test/support/client.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { addEvents, fillAccount } from './support/fill-account.ts';
import { longestTask } from './support/longest-task.ts';
import { openPage, signIn } from './support/open-page.ts';

/** A page that does not react for longer feels stuck. */
const limitMs = 200;

/** As many values as 250 kB of JSON can have. */
const manyValues = { list: Array(120_000).fill(0), end: 'of the payload' };

let browser: Browser;
let service: TestService;
let page: Page;
let expectClean: () => void;
let endpointId: string;

beforeAll(async () => {
  [browser, service] = await Promise.all([launchBrowser(), startService()]);
  const { json } = await call(service, 'POST', '/v1/webhook_endpoints', {
    body: { url: 'https://example.com/hooks', enabled_event_types: ['esim.*'] },
  });
  endpointId = json.id;
  await addEvents(service, 50, { type: 'test.heavy', data: manyValues });
  await fillAccount(service, { rows: 10_000, endpointId, failures: 1_000 });
  service.startSequencer();
  // From now on, the page gets only events that a test sends.
  await until(
    async () => (await service.db.pool.query('select last_position from event_feed_heads')).rows,
    ([head]) => Number(head?.last_position) === 10_050,
  );
  ({ page, expectClean } = await openPage(browser, service.url));
  await signIn(page, service.url, service.key);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

/**
 * Slow code is slow in every walk. But the host of a virtual machine may stop it for half a second in the middle of a task, and
 * the guest counts that as CPU time: of three equal walks, two took 35 and 58 ms and one 547 ms. So the best walk counts, and
 * only a walk over the limit is followed by another.
 */
async function expectResponsive(walk: () => Promise<void>): Promise<void> {
  let best = Number.POSITIVE_INFINITY;
  for (let walks = 0; walks < 10 && best >= limitMs; walks++) {
    await page.reload(); // so that no walk finds what another has loaded
    await openSection('Home');
    best = Math.min(best, await longestTask(browser, page, walk));
  }
  expect(best).toBeLessThan(limitMs);
  expectClean();
}

async function openSection(name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name }).click();
  await page.locator('[data-row]').first().waitFor();
}

/** Goes from page to page; each shows other rows. */
async function leaf(count: number): Promise<void> {
  const first = page.locator('[data-row]').first();
  for (let n = 0; n < count; n++) {
    const before = await first.getAttribute('data-row');
    await page.getByRole('button', { name: 'Older' }).click();
    await page.locator(`tr:first-child[data-row]:not([data-row="${before}"])`).waitFor();
  }
}

test('the measure sees work after a promise, which is where the page reads its answers', async () => {
  const burned = await longestTask(browser, page, () =>
    page.evaluate(async () => {
      await fetch('/healthz');
      // A count and not a time: a busy machine must not make it less work.
      let sum = 0;
      for (let n = 0; n < 30_000_000; n++) sum += Math.sqrt(n);
      console.info(sum);
    }),
  );
  expect(burned).toBeGreaterThan(15);
});

const tabOf: Record<string, () => Promise<void>> = {
  eSIMs: () => openSection('Orders & eSIMs'),
  orders: async () => {
    await openSection('Orders & eSIMs');
    await page.getByRole('tab', { name: 'Orders' }).click();
    await page.getByRole('table', { name: 'Orders and changes, newest first' }).waitFor();
  },
  events: () => openSection('Events'),
};

test.each([
  ['eSIMs', 20],
  ['orders', 5],
  ['events', 5],
])('of 10,000 %s a person sees page after page, and the page reacts all the time', (name, count) =>
  expectResponsive(async () => {
    await tabOf[name]?.();
    await leaf(count);
    expect(await page.locator('[data-row]').count()).toBe(50);
  }),
);

test('an endpoint with 1,000 failures shows all of them, and the page reacts all the time', () =>
  expectResponsive(async () => {
    await openSection('Webhooks');
    await page.getByRole('link', { name: 'example.com' }).click();
    await page.getByText('Failing, 1000 failures').waitFor();
    await page.locator('[data-row]').nth(49).waitFor();
    await leaf(19);
    expect(await page.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true);
    expect(page.url()).toContain(endpointId);
  }));

test.each<[string, object]>([
  ['many lines', manyValues],
  ['one long line', { text: 'x'.repeat(250_000), end: 'of the payload' }],
])(
  'an event of 250 kB with %s arrives, opens and shows its end, and the page reacts all the time',
  (_, data) =>
    expectResponsive(async () => {
      await openSection('Home');
      const { status, json } = await call(service, 'POST', '/v1/events/test', {
        body: { type: 'test.large', data },
      });
      expect(status).toBe(202);
      await page.locator(`[data-row="${json.id}"]`).getByRole('link', { name: 'test.large' }).click();
      const payload = page.getByRole('group').locator('pre');
      await payload.focus();
      await page.keyboard.press('Control+End');
      await payload.getByText('of the payload').waitFor();
      await until(
        () =>
          payload.evaluate(
            ({ scrollTop, scrollHeight, clientHeight }) => scrollHeight - clientHeight - scrollTop,
          ),
        (left) => left < 2,
      );
    }),
);

test('a page of events of 250 kB is read again when another arrives, and the page reacts all the time', () =>
  expectResponsive(async () => {
    await openSection('Events');
    await page.getByLabel('Type').fill('test.heavy');
    await page.getByLabel('Type').press('Enter');
    // As many as fit into 4 MB.
    await page.locator('[data-row]').nth(14).getByText('test.heavy').waitFor();
    const { json } = await call(service, 'POST', '/v1/events/test', {
      body: { type: 'test.heavy', data: {} },
    });
    await page.getByTitle(json.id, { exact: true }).waitFor();
  }));
