/**
 * `npm run screenshots` starts a sandbox, fills it with some days of a made-up business, and takes the pictures of the
 * dashboard in the docs.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { createOperator, createSimplane } from '@simplane/sdk';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from './launch-browser.ts';
import { toPalettePng } from './screenshots/palette-png.ts';
import { seedBusiness, seededDays } from './screenshots/seed-business.ts';
import { startReceivers } from './screenshots/start-receivers.ts';
import { startSandbox } from './start-sandbox.ts';

const pictures = new URL('../../docs/images/dashboard/', import.meta.url);

type Sight = {
  name: string;
  path: string;
  /** Texts that show when the page has loaded. */
  shows: string[];
  width?: number;
  height: number;
  isDark?: boolean;
};

const receivers = await startReceivers();
const sandbox = await startSandbox({
  preload: new URL('screenshots/move-clock.js', import.meta.url).href,
  env: {
    CLOCK_BEHIND_MS: String(seededDays * 86_400_000),
    // The sandbox gives up after seconds, too soon for an endpoint that fails in the pictures.
    SIMPLANE_WEBHOOK_DISABLE_AFTER: '10m',
  },
});
const browser = await launchBrowser();
try {
  const { url: baseUrl, apiKey } = sandbox;
  const createKey = await sandbox.command(
    'keys',
    'create',
    '--scopes',
    'operator',
    '--name',
    'ops console',
    '--json',
  );
  const operatorKey = /sp_test_\w+/.exec(createKey)?.[0] ?? '';
  const seeded = await seedBusiness({
    api: createSimplane({ apiKey, baseUrl }),
    operator: createOperator({ apiKey: operatorKey, baseUrl }),
    clientOf: (key) => createSimplane({ apiKey: key, baseUrl }),
    receivers,
    moveClock: (secondsAgo) => sandbox.tell(secondsAgo * 1_000),
  });
  await mkdir(pictures, { recursive: true });
  const home = ['Needs attention', 'Simulate', 'Thailand unlimited'];
  await take(apiKey, [
    { name: 'event', path: `/events/${seeded.eventId}`, shows: ['crm.localhost'], height: 640 },
    { name: 'home', path: '/', shows: home, height: 860 },
    { name: 'home-dark', path: '/', shows: home, height: 860, isDark: true },
    { name: 'esims', path: '/esims', shows: ['A-1062', 'Thailand unlimited'], height: 640 },
    { name: 'esim', path: `/esims/${seeded.iccid}`, shows: ['attached in IT', 'Queued'], height: 920 },
    {
      name: 'webhook',
      path: `/webhooks/${seeded.endpointId}`,
      shows: ['connection refused', 'per hour'],
      height: 760,
    },
    { name: 'requests', path: '/requests?status=4xx', shows: ['404'], height: 420 },
    { name: 'phone', path: '/', shows: home, width: 390, height: 844 },
  ]);
  await take(operatorKey, [
    { name: 'operator', path: '/', shows: ['out_of_stock', 'Mock network'], height: 860 },
  ]);
} finally {
  await browser.close();
  await sandbox.stop();
  await receivers.stop();
}

async function take(key: string, sights: Sight[]): Promise<void> {
  const page = await signIn(browser, key);
  for (const { name, path, shows, width = 1_280, height, isDark = false } of sights) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' });
    await page.goto(`${sandbox.url}/dashboard${path}`);
    for (const text of shows) await page.getByText(text).first().waitFor();
    await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
    const png = toPalettePng(await page.screenshot());
    await writeFile(new URL(`${name}.png`, pictures), png);
    console.log(`docs/images/dashboard/${name}.png: ${Math.round(png.length / 1_000)} kB`);
  }
  await page.context().close();
}

async function signIn(browser: Browser, key: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(`${sandbox.url}/dashboard`);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Sections' }).waitFor();
  return page;
}
