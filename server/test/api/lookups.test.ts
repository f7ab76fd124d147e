import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { call, provision } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests assert on the JSON's content.
type Json = any;

let service: TestService;
let other: { url: string; key: string };
/** An eSIM that was ordered, used and topped up, and its order. */
let iccid: string;
let order: string;

beforeAll(async () => {
  service = await startService();
  other = { url: service.url, key: (await service.createAccount('Other')).key };
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  const { json } = await provision(service, 'lookup-order-1');
  order = json.id;
  iccid = (await ended(order)).iccid;
  for (const action of ['download', 'install', 'enable']) await simulate({ action });
  await simulate({ action: 'attach', country: 'FR' });
  await simulate({ action: 'attach', country: 'DE' });
  await simulate({ action: 'use_data', bytes: 3 * 1024 ** 3 });
});
afterAll(() => service.stop());

async function get(path: string, target: { url: string; key: string } = service): Promise<Json> {
  const { status, json, text } = await call(target, 'GET', path);
  expect(status, text).toBe(200);
  return json;
}

function ended(id: string): Promise<Json> {
  return until(
    () => get(`/v1/executions/${id}`),
    ({ status }) => status === 'succeeded' || status === 'failed',
  );
}

async function simulate(body: object, target = iccid): Promise<void> {
  const { status, text } = await call(service, 'POST', `/v1/sandbox/esims/${target}/simulate`, { body });
  expect(status, text).toBe(200);
}

/** All items of a list, `limit` a page. */
async function walk(path: string, limit = 2): Promise<Json[]> {
  const items: Json[] = [];
  let cursor = '';
  do {
    const page = await get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`);
    expect(page.data.length).toBeLessThanOrEqual(limit);
    items.push(...page.data);
    cursor = page.next_cursor === undefined ? '' : `&starting_after=${page.next_cursor}`;
  } while (cursor !== '');
  return items;
}

const typesOf = (items: { type: string }[]) => items.map(({ type }) => type);

describe('the list of events', () => {
  test('by ICCID has every event of the eSIM once, newest first, and no other', async () => {
    const all = await walk('/v1/events', 100);
    const own = all.filter(({ data }) => data.iccid === iccid);
    expect(own.length).toBeGreaterThan(6);
    expect(await walk(`/v1/events?iccid=${iccid}`)).toEqual(own);
  });

  test('by ICCID and type, time or delivery has those that match all', async () => {
    const events = (filter: string) => walk(`/v1/events?iccid=${iccid}&${filter}`);
    expect(typesOf(await events('type=esim.installed,bundle.*'))).toEqual([
      'bundle.usage_threshold',
      'bundle.activated',
      'esim.installed',
    ]);
    expect(await events('created[lt]=1')).toEqual([]);
    expect(await events('delivery=failed')).toEqual([]);
  });

  test('by execution has what it caused, also if the order failed', async () => {
    expect(typesOf(await walk(`/v1/events?execution_id=${order}`))).toEqual(['esim.provisioned']);
    expect(typesOf(await walk(`/v1/events?execution_id=${order}&iccid=${iccid}`))).toEqual([
      'esim.provisioned',
    ]);
    const { json } = await provision(service, undefined, { product_id: 'prod_sandbox_declined' });
    await ended(json.id);
    const [failed, ...others] = await walk(`/v1/events?execution_id=${json.id}`);
    expect([failed.type, failed.data.execution_id, others]).toEqual([
      'esim.provisioning_failed',
      json.id,
      [],
    ]);
    expect(await walk(`/v1/events?execution_id=${json.id}&iccid=${iccid}`)).toEqual([]);
    expect(await walk(`/v1/events?execution_id=${json.id}&type=esim.provisioned`)).toEqual([]);
  });

  test('has test events by ICCID, wherever their data has it, and compares the whole ICCID', async () => {
    const send = async (data: object) =>
      (await call(service, 'POST', '/v1/events/test', { body: { type: 'esim.test', data } })).json.id;
    const own = '89999019999999999990';
    const id = await send({ execution_id: order, iccid: own });
    await send({ iccid: `${own}1` });
    await send({ iccid: { iccid: own } });
    await send({ data: { iccid: own } });
    expect((await walk(`/v1/events?iccid=${own}`)).map((event) => event.id)).toEqual([id]);
  });

  test('has no events of another account', async () => {
    expect((await get(`/v1/events?iccid=${iccid}`, other)).data).toEqual([]);
    expect((await get(`/v1/events?execution_id=${order}`, other)).data).toEqual([]);
  });

  test.each([
    ['iccid=123', 'iccid', /must match/],
    ['execution_id=evt_1', 'execution_id', /must match/],
  ])('refuses %s', async (query, param, message) => {
    const { status, json } = await call(service, 'GET', `/v1/events?${query}`);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'parameter_invalid', param]);
    expect(json.error.message).toMatch(message);
  });
});
