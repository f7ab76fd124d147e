import { alternate } from '../support/alternate.ts';
import type { Target } from '../support/deployment.ts';
import { type Million, stored } from '../support/million.ts';
import type { Result } from '../support/scenario.ts';

const limit = 100;
const requestsPerRound = 150;

/** Time of a page a million items deep, compared to the first page of the same list. */
export async function pageDepth({ full }: Million, progress: (text: string) => void): Promise<Result> {
  progress('walking the whole list to its last page');
  const deepCursor = await walkToTheEnd(full, progress);
  return alternate(
    {
      value: () => timePages(full, `&starting_after=${deepCursor}`),
      ceiling: () => timePages(full, ''),
    },
    { rounds: 9, unit: 'ms a page', goal: '≤ 1.2', progress },
  );
}

/** Walks the list through the API and returns the cursor of the last full page. */
async function walkToTheEnd(target: Target, progress: (text: string) => void): Promise<string> {
  let [cursor, previous, seen] = ['', '', 0];
  for (;;) {
    const page = await getPage(target, cursor && `&starting_after=${cursor}`);
    seen += page.data.length;
    if (seen % 250_000 === 0) progress(`${seen.toLocaleString('en')} seen`);
    if (!page.has_more) break;
    [previous, cursor] = [cursor, page.next_cursor];
  }
  if (seen !== stored) throw new Error(`the walk saw ${seen} of ${stored}`);
  return previous;
}

async function timePages(target: Target, query: string): Promise<number> {
  const startedAtMs = performance.now();
  for (let i = 0; i < requestsPerRound; i++) {
    const { data } = await getPage(target, query);
    if (data.length !== limit) throw new Error(`a page of ${data.length}`);
  }
  return (performance.now() - startedAtMs) / requestsPerRound;
}

type Page = { data: unknown[]; has_more: boolean; next_cursor: string };

async function getPage({ url, key }: Target, query: string): Promise<Page> {
  const response = await fetch(`${url}/v1/executions?limit=${limit}${query}`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Page;
}
