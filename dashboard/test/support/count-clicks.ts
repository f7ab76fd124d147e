import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** What docs/dashboard.md says of each job, by its first column. */
async function documentedClicks(): Promise<Map<string, number>> {
  const text = await readFile(new URL('../../../docs/dashboard.md', import.meta.url), 'utf8');
  return new Map(
    [...text.matchAll(/^\| ([^|]+) \| (\d+) \|/gm)].map(([, job = '', clicks]) => [job, Number(clicks)]),
  );
}

/** Counts clicks and choices, but not what is typed. A job that takes more or fewer than documented fails. */
export async function countClicks(page: Page) {
  await page.addInitScript(() => {
    const count = () =>
      sessionStorage.setItem('clicks', String(Number(sessionStorage.getItem('clicks') ?? 0) + 1));
    addEventListener('mousedown', count, true);
    addEventListener('change', ({ target }) => target instanceof HTMLSelectElement && count(), true);
  });
  const documented = await documentedClicks();
  return {
    begin: () => page.evaluate(() => sessionStorage.setItem('clicks', '0')),
    async expectDocumented(job: string): Promise<void> {
      const clicks = await page.evaluate(() => Number(sessionStorage.getItem('clicks')));
      expect([job, clicks]).toEqual([job, documented.get(job)]);
    },
  };
}
