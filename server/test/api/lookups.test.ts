import { decodeId } from '@simplane/contract';
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

const counts = (pending: number, succeeded: number, failed: number) => ({ pending, succeeded, failed });

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

describe('the timeline of an eSIM', () => {
  const path = () => `/v1/esims/${iccid}/timeline`;

  test('has its order with its steps, its commands and all its events, newest first', async () => {
    const { json: suspend } = await call(service, 'POST', `/v1/esims/${iccid}/suspend`);
    await ended(suspend.id);
    const { json: refused } = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, {
      body: { product_id: 'prod_sandbox_declined' },
    });
    await ended(refused.id);
    const entries = await walk(path());
    const events = await walk(`/v1/events?iccid=${iccid}`, 100);
    expect(entries.filter(({ event_id }) => event_id).map(({ id }) => id)).toEqual(
      events.map(({ id }) => id),
    );
    const executions = entries.filter(({ status }) => status);
    expect(executions).toMatchObject([
      {
        id: refused.id,
        kind: 'command',
        type: 'bundle.add',
        status: 'failed',
        steps: [
          { name: 'accepted', at: refused.created },
          { name: 'running', at: null, attempts: 1 },
          { name: 'failed', error_code: 'declined', message: expect.stringContaining('ask the operator') },
        ],
      },
      { id: suspend.id, kind: 'command', status: 'succeeded', execution_id: suspend.id },
      {
        id: order,
        kind: 'order',
        type: 'esim.provision',
        steps: [{ name: 'accepted' }, { name: 'running' }, { name: 'succeeded' }],
      },
    ]);
    expect(entries.at(-1)).toEqual(executions.at(-1));
    expect(entries.map(({ created }) => created)).toEqual(
      entries.map(({ created }) => created).sort((a, b) => b - a),
    );
  });

  test('says of each event what it is, which execution caused it, and what it was about', async () => {
    const entries = await walk(path(), 100);
    const find = (type: string) => entries.find((entry) => entry.type === type);
    expect(find('esim.provisioned')).toMatchObject({
      kind: 'state',
      title: 'The eSIM is ready to install.',
      execution_id: order,
      deliveries: counts(0, 0, 0),
      data: { iccid },
    });
    expect(find('esim.installed')).toMatchObject({ kind: 'profile' });
    expect(find('esim.country_changed')).toMatchObject({
      kind: 'attach',
      title: 'The eSIM attached in DE, before that in FR.',
    });
    expect(find('bundle.usage_threshold')).toMatchObject({
      kind: 'usage',
      title: '50 % of the bundle’s data is used.',
    });
  });

  test('counts the deliveries of an event by status, pending ones in the queue and behind others', async () => {
    const [event] = await walk(`/v1/events?iccid=${iccid}&type=esim.enabled`);
    const uuid = decodeId('evt', event.id) as Uint8Array;
    const row = (table: string, columns: string, values: string) =>
      service.db.pool.query(
        `insert into ${table} (account_id, id, event_id, endpoint_id, origin, created_at${columns})
         values ($1, gen_random_uuid(), $2, gen_random_uuid(), 'event', now()${values})`,
        [service.accountUuid, Buffer.from(uuid).toString('hex')],
      );
    await row('delivery_queue', '', '');
    await row('blocked_deliveries', ', order_key', ", '1'");
    for (const status of ['succeeded', 'failed', 'failed', 'failed', 'canceled']) {
      await row('deliveries', ', status', `, '${status}'`);
    }
    const entry = (await walk(path(), 100)).find((one) => one.event_id === event.id);
    expect(entry.deliveries).toEqual(counts(2, 1, 3));
  });

  test('of an order that runs has what is known', async () => {
    const { json } = await provision(service, undefined, { product_id: 'prod_sandbox_flaky' });
    const running = await until(
      () => get(`/v1/executions/${json.id}`),
      (execution) => execution.iccid !== null,
    );
    const [entry] = (await walk(`/v1/esims/${running.iccid}/timeline`, 100)).slice(-1);
    expect(entry).toMatchObject({ id: json.id, kind: 'order' });
    expect(entry.steps[0]).toEqual({ name: 'accepted', at: json.created });
  });

  test('is not found in another account, and a cursor of another eSIM is refused', async () => {
    const hidden = await call(other, 'GET', path());
    const absent = await call(other, 'GET', '/v1/esims/8999901000000000000/timeline');
    expect([hidden.status, absent.status]).toEqual([404, 404]);
    expect(hidden.json.error.message.replace(iccid, '')).toBe(
      absent.json.error.message.replace('8999901000000000000', ''),
    );
    const { next_cursor } = await get('/v1/events?limit=1');
    const refused = await call(service, 'GET', `${path()}?starting_after=${next_cursor}`);
    expect([refused.status, refused.json.error.code]).toEqual([400, 'cursor_invalid']);
  });
});
