import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../../server/test/support/browser.ts';
import { insertEsim } from '../../server/test/support/insert-esim.ts';
import {
  type CellService,
  type FakeCell,
  peerOf,
  startCellService,
  startFakeCell,
} from '../../server/test/support/other-cells.ts';
import { openPage, signIn } from './support/open-page.ts';

let browser: Browser;
let first: CellService;
let eu: CellService;
let broken: FakeCell;
beforeAll(async () => {
  [browser, first, eu, broken] = await Promise.all([
    launchBrowser(),
    startCellService(null),
    startCellService('eu'),
    startFakeCell('us', (response) => response.writeHead(500).end()),
  ]);
});
afterAll(async () => {
  await browser.close();
  await Promise.all([first, eu, broken].map((one) => one.stop()));
});

async function openOverview() {
  const { page } = await openPage(browser, first.url);
  await signIn(page, first.url, first.operatorKey);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  const search = async (text: string) => {
    await page.getByRole('searchbox').fill(text);
    await page.getByRole('searchbox').press('Enter');
  };
  return { page, search };
}

test('an operator sees which cells the figures lack, and which parts of the page are of one cell', async () => {
  first.knows([peerOf(eu), broken]);
  const { page } = await openOverview();
  await page.getByText('No answer from the cell “us” (it answered with an error).').waitFor();
  await page.getByText('The figures are of the cells that answered;').waitFor();
  first.knows([peerOf(eu)]);
  await page.reload();
  await page.getByText('The figures are of all 2 cells;').waitFor();
  await page.getByText('are of the cell without a label only.').waitFor();
  expect(await page.getByText('No answer from').count()).toBe(0);
  first.knows([]);
  await page.reload();
  await page.getByText('nothing is due').first().waitFor();
  expect(await page.getByText(/cell/).count()).toBe(0);
});

test('a search says in which cell something is, links only to what is here, and says which cell did not answer', async () => {
  const here = await insertEsim(first);
  const there = await insertEsim(eu);
  first.knows([peerOf(eu)]);
  const { page, search } = await openOverview();
  const found = page.getByRole('search').getByRole('status');
  await search(there);
  await found.getByText(`in the cell “eu”`).waitFor();
  expect(await found.getByRole('button').count()).toBe(0);
  first.knows([peerOf(eu), broken]);
  await search('nothing has this');
  await found.getByText('Nothing was found for “nothing has this”. No answer from the cell “us”').waitFor();
  await search(here);
  await found.getByText('No answer from the cell “us” (it answered with an error).').waitFor();
  await found.getByRole('button', { name: here }).click();
  await page.getByRole('heading', { level: 1, name: here }).waitFor();
});
