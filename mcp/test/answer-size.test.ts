import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { callTool } from './support/call.ts';
import { connectHttp } from './support/connect.ts';

const maxLength = 40_000;

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await startService();
  client = await connectHttp(service);
  await client.listTools(); // from now on the client validates results against the output schemas
});
afterAll(async () => {
  await client.close();
  await service.stop();
});

/** Follows next_cursor as the notes say, and returns every answer. */
async function walk(args: object): Promise<{ data: { id: string }[]; note?: string }[]> {
  const answers = [];
  let cursor: string | undefined;
  do {
    const page = await callTool(client, 'list_events', {
      ...args,
      ...(cursor !== undefined && { starting_after: cursor }),
    });
    answers.push(page);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return answers;
}

test('a list returns only what fits, and its note says how to get the rest, of which nothing is lost', async () => {
  const sent: string[] = [];
  for (let n = 0; n < 30; n++) {
    const data = { text: 'x'.repeat(5_000) };
    sent.push((await callTool(client, 'send_test_event', { type: 'test.size', data })).id);
  }
  const answers = await walk({ limit: 100 });
  for (const answer of answers) expect(JSON.stringify(answer).length).toBeLessThanOrEqual(maxLength);
  expect(answers[0]?.note).toBe(
    'Only 7 fit into one answer. For more, call list_events again with starting_after set to next_cursor.',
  );
  expect(answers.at(-1)?.note ?? '').not.toContain('For more');
  expect(answers.flatMap(({ data }) => data.map(({ id }) => id))).toEqual(sent.toReversed());
});

test('a list whose first item does not fit begins with this item alone', async () => {
  const small = await callTool(client, 'send_test_event', { type: 'test.first', data: {} });
  const data = { text: 'x'.repeat(50_000) };
  const large = await callTool(client, 'send_test_event', { type: 'test.first', data });
  const answers = await walk({ type: 'test.first', limit: 10 });
  expect(answers.map(({ data: events }) => events.map(({ id }) => id))).toEqual([[large.id], [small.id]]);
});

test('a page that fits has a note only if there are more', async () => {
  const page = await callTool(client, 'list_products', { limit: 1 });
  expect(page.note).toBe('For more, call list_products again with starting_after set to next_cursor.');
  expect(await callTool(client, 'list_event_types')).not.toHaveProperty('note');
});

test.each([
  ['one long text', { text: `x${'😀'.repeat(50_000)}` }],
  ['many fields', Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`field_${n}`, n]))],
  ['a long name', { ['n'.repeat(200_000)]: 1 }],
  ['a long array', { list: Array.from({ length: 40_000 }, (_, n) => n) }],
  ['a wide tree', wideTree(4)],
])('an object that does not fit is cut and says so: %s', async (_, data) => {
  const sent = await callTool(client, 'send_test_event', { type: 'test.huge', data });
  const listed = await callTool(client, 'list_events', { limit: 1 });
  for (const answer of [sent, listed]) {
    expect(JSON.stringify(answer).length).toBeLessThanOrEqual(maxLength);
    expect(JSON.stringify(answer)).not.toMatch(/\\ud[89a-f]/);
    expect(answer.note).toMatch(/are cut, marked by "…"\. The user can see them in full with/);
  }
  expect(listed.data).toMatchObject([{ id: sent.id, type: 'test.huge', object: 'event' }]);
});

/** 10 fields on each of the levels, so 10,000 leaves. */
function wideTree(levels: number): object {
  const leaf = 'a leaf';
  return Object.fromEntries(
    Array.from({ length: 10 }, (_, n) => [`branch_${n}`, levels === 1 ? leaf : wideTree(levels - 1)]),
  );
}

test('the catalog as a resource is bounded too', async () => {
  await service.db.query(
    {
      name: 'test_products',
      text: `
insert into products (id, name, countries, data_bytes, validity_days, price_amount, price_currency, speeds, active, listed, created_at)
select 'prod_many_' || n, repeat('n', 100), array['JP'], 1, 1, 1, 'usd', array['4G'], true, true,
  (select min(created_at) from products)
from generate_series(1, 500) n`,
    },
    [],
  );
  const [contents] = (await client.readResource({ uri: 'simplane://products' })).contents;
  const text = contents && 'text' in contents ? contents.text : '';
  expect(text.length).toBeLessThanOrEqual(maxLength + 500);
  const { data, has_more, note } = JSON.parse(text);
  expect(has_more).toBe(true);
  expect(note).toBe(`These are the first ${data.length} products. list_products returns all, page by page.`);
});
