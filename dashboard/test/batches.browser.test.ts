import { readFile } from 'node:fs/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { launchBrowser } from '../../server/test/support/browser.ts';
import { call } from '../../server/test/support/client.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { accessibilityFindings } from './support/check-accessibility.ts';
import { openPage, signIn } from './support/open-page.ts';

let browser: Browser;
let service: TestService;
let page: Page;

beforeAll(async () => {
  [browser, service] = await Promise.all([launchBrowser(), startService()]);
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startSequencer();
  ({ page } = await openPage(browser, service.url));
  await signIn(page, service.url, service.key);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

const button = (name: string, within: Page | Locator = page) =>
  within.getByRole('button', { name, exact: true });
const idInPath = () => new URL(page.url()).pathname.split('/').at(-1) ?? '';

test('a batch is ordered and followed, and its codes are saved to a file', async () => {
  await page.goto(`${service.url}/dashboard/esims?view=batches`);
  await page.getByText('No batch yet.').waitFor();
  await button('Order a batch').click();
  const dialog = page.getByRole('dialog', { name: 'Order a batch' });
  await dialog.getByLabel('Number of eSIMs').fill('3');
  await button('Order all', dialog).click();
  await page.getByRole('status').filter({ hasText: '3 of 3' }).waitFor();
  expect(await page.getByRole('progressbar').getAttribute('value')).toBe('3');
  expect(await accessibilityFindings(page)).toEqual([]);
  const download = page.waitForEvent('download');
  await button('CSV').click();
  const file = await download;
  expect(file.suggestedFilename()).toBe(`${idInPath()}-csv.csv`);
  expect((await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n')).toHaveLength(4);
  await page.getByRole('definition').getByRole('link', { name: '3' }).first().click();
  await page.getByRole('row').nth(3).waitFor();
  expect(await page.getByRole('row').count()).toBe(4);
});

test('what waits is canceled from the screen', async () => {
  const body = { product_id: 'prod_sandbox_held', quantity: 2 };
  const { id } = (await call(service, 'POST', '/v1/batches', { body })).json;
  await page.goto(`${service.url}/dashboard/batches/${id}`);
  await button('Cancel…').click();
  await button('Cancel', page.getByRole('dialog', { name: 'Cancel' }))
    .last()
    .click();
  await page.getByText('2 of them canceled').waitFor();
  await button('Cancel…').waitFor({ state: 'hidden' });
  expect((await call(service, 'GET', `/v1/batches/${id}`)).json).toMatchObject({ canceled: 2, open: 0 });
});
