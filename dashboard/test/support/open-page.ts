import type { Browser, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

export type Opened = {
  page: Page;
  /** Fails if the page logged an error, threw, or asked another host. */
  expectClean(): void;
};

/** A page that notes everything a visitor should never cause. */
export async function openPage(
  browser: Browser,
  origin: string,
  { width = 1400 }: { width?: number } = {},
): Promise<Opened> {
  // Without motion: every frame of a moving skeleton costs CPU.
  const context = await browser.newContext({ viewport: { width, height: 900 }, reducedMotion: 'reduce' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {});
  // Catches hangs, not slowness: on a busy machine an answer can take half a minute.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:'))
      faults.push(`another host: ${request.url()}`);
  });
  closeAfterTest(page, faults);
  return { page, expectClean: () => expect(faults).toEqual([]) };
}

/** A page that stays open goes on asking for all that it shows, with every event and every few seconds. */
function closeAfterTest(page: Page, faults: string[]): void {
  try {
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') {
        const shown = await page.locator('body').innerText({ timeout: 1_000 }).catch(String);
        console.log([`${page.url()} showed:`, shown, ...faults].join('\n'));
      }
      await page.context().close();
    });
  } catch {
    // A hook has opened it, not a test.
  }
}

export async function signIn(page: Page, origin: string, key: string): Promise<void> {
  await page.goto(`${origin}/dashboard`);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Sections' }).waitFor();
}
