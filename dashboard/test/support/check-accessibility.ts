import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Finding = { id: string; nodes: { html: string }[] };
type Options = { runOnly?: string[] };
type Axe = {
  run(options: Options & { resultTypes: ['violations'] }): Promise<{ violations: Finding[] }>;
};

/** What axe finds on the page, a line each. Evaluated by the browser itself, so the page's policy does not forbid it. */
export async function accessibilityFindings(page: Page, options: Options = {}): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(await source);
  return page.evaluate(async (options) => {
    const { axe } = globalThis as unknown as { axe: Axe };
    // Otherwise it describes each element that passed each rule, too.
    const { violations } = await axe.run({ ...options, resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
  }, options);
}

/** At both widths, and in both themes. Of a theme only colors can be wrong, which are the same at every width. */
export async function findingsInAllLooks(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const width of [1_400, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
    found.push(...(await accessibilityFindings(page)).map((finding) => `${width}: ${finding}`));
    found.push(...(await brokenWords(page)).map((word) => `${width}: “${word}” breaks in the middle`));
    const shownWidth = await page.evaluate(() => document.documentElement.scrollWidth);
    if (shownWidth > width) found.push(`${width}: the page is ${shownWidth} wide`);
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await accessibilityFindings(page, { runOnly: ['color-contrast'] });
  return [...found, ...dark.map((finding) => `dark: ${finding}`)];
}

/** Words on two lines. Not of texts that others wrote, which may have words longer than any line. */
function brokenWords(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const broken: string[] = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const parent = text.parentElement;
      if (!parent?.checkVisibility() || parent.closest('.foreign, .said, .answer, .hidden, pre, script'))
        continue;
      for (const { 0: word, index } of (text.textContent ?? '').matchAll(/[A-Za-z]{2,}/g)) {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) broken.push(word);
      }
    }
    return broken;
  });
}
