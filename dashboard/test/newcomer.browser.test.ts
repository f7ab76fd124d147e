import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../../server/test/support/browser.ts';
import { cloneDatabase } from '../../server/test/support/database.ts';
import { runCommand, type ServerProcess, spawnServer } from '../../server/test/support/process.ts';
import { decode, fromPng } from '../../server/test/support/scan-qr.ts';
import { openPage } from './support/open-page.ts';

let browser: Browser;
let server: ServerProcess;
let folder: string;
let database: Awaited<ReturnType<typeof cloneDatabase>>;

beforeAll(async () => {
  database = await cloneDatabase();
  folder = await mkdtemp(join(tmpdir(), 'newcomer-'));
  [browser, server] = await Promise.all([launchBrowser(), spawnServer(settings())]);
});
const settings = () => ({ DATABASE_URL: database.url, SIMPLANE_DATA_DIR: folder });

afterAll(async () => {
  await browser.close();
  await server.end('SIGTERM');
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

test('a newcomer follows one link, orders an eSIM, sees its events arrive and scans the QR code', async () => {
  // A terminal shows such a link at the start; other output does not.
  expect(server.output()).not.toContain('link=');
  const env = { ...settings(), SIMPLANE_PUBLIC_URL: server.url };
  const link = (await runCommand(['dashboard-link'], env)).stdout.trim();
  const { page, expectClean } = await openPage(browser, server.url);
  await page.goto(link);
  await page.getByRole('button', { name: 'Sign in' }).click();

  await page.getByRole('heading', { name: 'Home' }).waitFor();
  expect(page.url()).not.toContain('link='); // the used link is not left in the address
  expect(await bytesOfPage(page)).toBeLessThan(150_000);
  await page.getByRole('button', { name: 'Order an eSIM' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Order', exact: true }).click();
  await page.waitForURL(/\/executions\//);
  await page.getByText('✓ Succeeded').waitFor();

  await page.getByRole('link', { name: 'Home' }).click();
  await page.getByRole('table', { name: 'The newest events' }).getByText('esim.provisioned').waitFor();

  await page.getByRole('link', { name: 'Orders & eSIMs' }).click();
  await page.locator('[data-row]').first().getByRole('link').click();
  // What is above the button is there, so that it does not move between pressing and releasing it.
  await page.getByText('0 B of 1 GB').waitFor();
  await page.getByText('The eSIM is ready to install.').waitFor();
  await page.getByRole('button', { name: 'Show QR code and links' }).click();
  const qr = page.getByRole('img', { name: 'QR code to install the eSIM' });
  await qr.waitFor();
  const scanned = decode(fromPng(await qr.screenshot())).data;
  expect(scanned).toMatch(/^LPA:1\$[^$]+\$[^$]+$/);
  expect(await page.getByText(/^LPA:1\$/).textContent()).toBe(scanned);
  expectClean();

  // The link is spent.
  const second = await openPage(browser, server.url);
  await second.page.goto(link);
  await second.page.getByRole('button', { name: 'Sign in' }).click();
  await second.page.getByRole('alert').getByText('already used').waitFor();
});

/** What the first view has loaded of the page itself, compressed as sent. */
function bytesOfPage(page: Page): Promise<number> {
  return page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
      .filter(({ name }) => name.includes('/dashboard/assets/'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  );
}
