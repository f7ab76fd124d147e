import pg from 'pg';
import type { Deployment } from '../support/deployment.ts';
import { median, type Result, round } from '../support/scenario.ts';

const stored = 1_000_000;
const limit = 100;
const requestsARound = 200;
const rounds = 9;

/** What a page costs a million items deep, against the first page of the same list. */
export async function pageDepth(deployment: Deployment, progress: (what: string) => void): Promise<Result> {
  progress(`storing ${stored.toLocaleString('en')} executions`);
  await fill(deployment.databaseUrl);
  progress('walking the whole list to its last pages');
  const deepCursor = await walkToTheEnd(deployment, progress);
  const times = { first: [] as number[], deep: [] as number[] };
  for (let i = 0; i < rounds; i++) {
    progress(`round ${i + 1} of ${rounds}`);
    times.first.push(await timePages(deployment, ''));
    times.deep.push(await timePages(deployment, `&starting_after=${deepCursor}`));
  }
  const [value, ceiling] = [median(times.deep), median(times.first)];
  return {
    value: round(value),
    unit: 'ms a page',
    ceiling: round(ceiling),
    ratio: round(value / ceiling),
    goal: '≤ 1.2',
    rounds,
  };
}

async function fill(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  // Ids as UUIDv7 makes them: time first, so the index has the shape that real use gives it.
  await client.query(
    `insert into executions (account_id, id, type, status, product_id, input, created_at, finished_at)
     select (select id from accounts), encode(substring(int8send(1700000000000 + n) from 3) || '\\x7000' || substring(uuid_send(gen_random_uuid()) from 9), 'hex')::uuid,
            'esim.provision', 'succeeded', 'prod_us_1gb_7d', '{}', now(), now()
     from generate_series(1, $1) n`,
    [stored],
  );
  await client.query('vacuum (analyze) executions');
  await client.end();
}

/** Through the API, page by page; the cursor of the last full page but one. */
async function walkToTheEnd(deployment: Deployment, progress: (what: string) => void): Promise<string> {
  let [cursor, before, seen] = ['', '', 0];
  for (;;) {
    const page = await getPage(deployment, cursor && `&starting_after=${cursor}`);
    seen += page.data.length;
    if (seen % 250_000 === 0) progress(`${seen.toLocaleString('en')} seen`);
    if (!page.has_more) break;
    [before, cursor] = [cursor, page.next_cursor];
  }
  if (seen !== stored) throw new Error(`the walk saw ${seen} of ${stored}`);
  return before;
}

async function timePages(deployment: Deployment, query: string): Promise<number> {
  const startedAtMs = performance.now();
  for (let i = 0; i < requestsARound; i++) {
    const { data } = await getPage(deployment, query);
    if (data.length !== limit) throw new Error(`a page of ${data.length}`);
  }
  return (performance.now() - startedAtMs) / requestsARound;
}

type Page = { data: unknown[]; has_more: boolean; next_cursor: string };

async function getPage({ url, key }: Deployment, query: string): Promise<Page> {
  const response = await fetch(`${url}/v1/executions?limit=${limit}${query}`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Page;
}
