import { randomBytes } from 'node:crypto';
import { decodeId, encodeId, searchTypes } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { expireFeeds, planExpiry } from '../../src/notify/feed/expire.ts';
import { idOfUuid, uuidOfId, uuidText } from '../../src/platform/ids/uuid.ts';
import { countEvents } from '../../src/views/overview/count-events.ts';
import { call, provision } from '../support/client.ts';
import { insertFailed } from '../support/insert-executions.ts';
import { removeOld } from '../support/remove-old.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
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
  service = await startService({ requestLogLevel: 'all' });
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

  test('has test events by the ICCID that their data starts with, and compares the whole ICCID', async () => {
    const send = async (data: object) =>
      (await call(service, 'POST', '/v1/events/test', { body: { type: 'esim.test', data } })).json.id;
    const own = '89999019999999999990';
    const id = await send({ iccid: own, execution_id: order });
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

  test('has an open command once, on whichever page it is, and none of another eSIM', async () => {
    const uuid = uuidText(service.service.newUuid());
    const ofOther = uuidText(service.service.newUuid());
    for (const values of [
      [service.accountUuid, uuid, iccid],
      [service.accountUuid, ofOther, '8999901000000000999'],
    ])
      await service.db.pool.query(
        `insert into execution_queue (account_id, id, type, iccid, input, created_at, due_at)
         values ($1, $2, 'bundle.add', $3, '{}', now(), now() + interval '1 hour')`,
        values,
      );
    const first = await get(`${path()}?limit=1`);
    const rest = await get(`${path()}?limit=100&starting_after=${first.next_cursor}`);
    const ids = [...first.data, ...rest.data].map(({ id }: Json) => id);
    expect(ids.filter((id) => id === idOfUuid('exec', uuid))).toHaveLength(1);
    expect(ids).not.toContain(idOfUuid('exec', ofOther));
    await service.db.pool.query('delete from execution_queue where id = any($1)', [[uuid, ofOther]]);
  });

  test('does not have the order of a former eSIM with its ICCID', async () => {
    const former = await insertFailed(service, 'declined', null);
    const text = 'update executions set iccid = $2 where id = $1';
    await service.db.pool.query(text, [uuidOfId('exec', former), iccid]);
    expect((await walk(path(), 100)).map(({ id }) => id)).not.toContain(former);
    await service.db.pool.query(text, [uuidOfId('exec', former), null]);
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

describe('the overview', () => {
  async function counted(): Promise<void> {
    await sequenceEvents(service);
    // The first pass over an account only registers it.
    for (let pass = 0; pass < 2; pass++) await countEvents(service);
  }

  /** A new account with orders of these products, ended and counted. */
  async function ordered(...products: string[]) {
    const account = await service.createAccount('Overview');
    const target = { url: service.url, key: account.key };
    const orders: Json[] = [];
    for (const product_id of products) {
      const { json } = await provision(target, undefined, { product_id });
      orders.push(json);
    }
    const done = await Promise.all(
      orders.map(({ id }) =>
        until(
          () => get(`/v1/executions/${id}`, target),
          ({ finished_at }) => finished_at !== null,
        ),
      ),
    );
    const act = async (number: number, body: object) => {
      const path = `/v1/sandbox/esims/${done[number].iccid}/simulate`;
      expect((await call(target, 'POST', path, { body })).status).toBe(200);
    };
    return { target, accountUuid: account.accountUuid, orders: done, act };
  }

  const read = async (target: { url: string; key: string }, query = '') => {
    await counted();
    return get(`/v1/overview${query}`, target);
  };
  const countsIn = ({ funnel }: Json) =>
    Object.fromEntries(funnel.map((one: Json) => [one.stage, one.count]));
  const good = 'prod_europe_5gb_30d';

  test('counts each order once per stage, with the time it took, and failures by code', async () => {
    const { target, act } = await ordered(good, good, good, 'prod_sandbox_declined');
    for (const action of ['download', 'install', 'delete', 'download', 'install']) await act(0, { action });
    await act(0, { action: 'attach', country: 'FR' });
    await act(1, { action: 'download' });
    const overview = await read(target);
    expect(countsIn(overview)).toEqual({
      accepted: 4,
      provisioned: 3,
      downloaded: 2,
      installed: 1,
      active: 1,
    });
    expect(overview).toMatchObject({
      open_count: 0,
      failed_count: 1,
      failures: [{ stage: 'provisioned', code: 'declined', count: 1 }],
    });
    expect(overview.funnel[0].median_ms).toBeNull();
    for (const { median_ms, p95_ms } of overview.funnel.slice(1)) {
      expect(median_ms).toBeGreaterThanOrEqual(0);
      expect(p95_ms).toBeGreaterThanOrEqual(median_ms);
    }
    expect(await read(target)).toMatchObject({ funnel: overview.funnel });
  });

  test('counts a stage that was not reported if a later one was, without a time', async () => {
    const { target, act } = await ordered(good);
    await act(0, { action: 'attach', country: 'FR' });
    const overview = await read(target);
    expect(countsIn(overview)).toEqual({
      accepted: 1,
      provisioned: 1,
      downloaded: 1,
      installed: 1,
      active: 1,
    });
    expect(overview.funnel.slice(2).map(({ median_ms }: Json) => median_ms)).toEqual([null, null, null]);
  });

  test('does not count test events that name an order again, or orders that do not exist', async () => {
    const { target, orders } = await ordered(good, 'prod_sandbox_declined');
    await counted();
    for (const [number, type] of ['esim.provisioned', 'esim.provisioning_failed'].entries()) {
      for (const execution_id of [orders[number].id, encodeId('exec', service.service.newUuid()), 7]) {
        const data = { iccid: orders[0].iccid, execution_id };
        await call(target, 'POST', '/v1/events/test', { body: { type, data } });
      }
    }
    const overview = await read(target);
    expect([countsIn(overview).accepted, overview.failed_count]).toEqual([2, 1]);
  });

  test('counts test events that name a change or no eSIM, or have no code or a long text as their code, without harm', async () => {
    const { target, accountUuid, orders } = await ordered(good);
    const { rows } = await service.db.pool.query(
      `insert into executions (account_id, id, iccid, type, status, input, created_at, finished_at)
       values ($1, uuid_v7(now()), $2, 'esim.suspend', 'succeeded', '{}', now(), now())
       returning id`,
      [accountUuid, orders[0].iccid],
    );
    const [execution_id, iccid] = [idOfUuid('exec', rows[0].id), orders[0].iccid];
    // Longer than an index takes, and so varied that it cannot be compressed.
    const code = randomBytes(8_000).toString('base64');
    for (const [type, data] of Object.entries({
      'esim.provisioned': { iccid, execution_id },
      'esim.download_failed': { iccid, error: { code } },
      'esim.install_failed': { iccid },
      'esim.downloaded': { iccid: 7 },
    }))
      await call(target, 'POST', '/v1/events/test', { body: { type, data } });
    const overview = await read(target);
    expect(countsIn(overview)).toMatchObject({ accepted: 1, downloaded: 0 });
    expect(overview.failures).toHaveLength(2);
    expect(overview.failures).toContainEqual({ stage: 'downloaded', code: code.slice(0, 100), count: 1 });
    expect(overview.failures).toContainEqual({ stage: 'installed', code: 'other', count: 1 });
  });

  test('two processes count every event once', async () => {
    const { target } = await ordered(good, good);
    await sequenceEvents(service);
    for (let pass = 0; pass < 2; pass++) await Promise.all([countEvents(service), countEvents(service)]);
    expect(countsIn(await read(target)).provisioned).toBe(2);
  });

  test('has every hour of the window by the time of the order, and the sum over all accounts is kept', async () => {
    const { target } = await ordered(good);
    const now = Math.floor(service.clock.nowMs() / 1000);
    const overview = await read(target, `?from=${now - 3_600 * 3}`);
    expect(overview.hours.length).toBeGreaterThanOrEqual(4);
    expect(overview.hours.map(({ start }: Json) => start)).toEqual(
      overview.hours.map((_: Json, n: number) => overview.from + n * 3_600),
    );
    const sum = overview.hours.reduce((total: number, hour: Json) => total + hour.accepted, 0);
    expect([sum, overview.as_of >= now]).toEqual([1, true]);
    const earlier = await read(target, `?from=${now - 90_000}&until=${now - 7_200}`);
    expect(countsIn(earlier).accepted).toBe(0);
    const { rows } = await service.db.pool.query(
      `select account_id = $1 as all, sum(count) from order_counts group by 1`,
      ['00000000-0000-0000-0000-000000000000'],
    );
    expect(rows[0].sum).toBe(rows[1].sum);
  });

  test('shows open orders, and how far the events are counted', async () => {
    const account = await service.createAccount('Open');
    const target = { url: service.url, key: account.key };
    expect(countsIn(await get('/v1/overview', target))).toMatchObject({ accepted: 0 });
    await service.db.pool.query(
      `insert into execution_queue (account_id, id, type, input, created_at, due_at)
       select $1, uuid_v7(now()), 'esim.provision', '{}', now(), now() + interval '1 hour' from generate_series(1, 3)`,
      [account.accountUuid],
    );
    const changes = async () => {
      const key = await service.createKey({ scopes: ['operator'] });
      const { funnel, backlogs } = await get('/v1/operator/overview', { url: service.url, key });
      return [funnel[0].count, backlogs.executions.count, backlogs.deliveries.count];
    };
    const [ordersBefore, openBefore, pendingBefore] = await changes();
    await service.db.pool.query(
      `insert into execution_queue (account_id, id, iccid, type, input, created_at, due_at)
       values ($1, uuid_v7(now()), '8999900000000000017', 'esim.suspend', '{}', now(), now() + interval '1 hour')`,
      [account.accountUuid],
    );
    const one = await service.db.pool.query(
      `insert into blocked_deliveries (account_id, id, event_id, endpoint_id, origin, order_key, created_at)
       values ($1, uuid_v7(now()), uuid_v7(now()), uuid_v7(now()), 'event', 'k', now())
       returning id`,
      [account.accountUuid],
    );
    expect(await changes()).toEqual([ordersBefore, openBefore + 1, pendingBefore + 1]);
    await service.db.pool.query('delete from blocked_deliveries where id = $1', [one.rows[0].id]);
    await call(target, 'POST', '/v1/events/test', {
      body: { type: 'esim.downloaded', data: { iccid: '1' } },
    });
    await sequenceEvents(service);
    const behind = await get('/v1/overview', target);
    expect([behind.open_count, countsIn(behind).accepted, behind.as_of]).toEqual([3, 3, 0]);
    expect((await read(target)).as_of).toBeGreaterThan(1_700_000_000);
  });

  test('is up to date if the feed has removed all events that were never counted', async () => {
    const { accountUuid, key } = await service.createAccount('Quiet');
    const target = { url: service.url, key };
    await call(target, 'POST', '/v1/events/test', {
      body: { type: 'esim.downloaded', data: { iccid: '1' } },
    });
    await sequenceEvents(service);
    const soon = new Date(service.clock.nowMs() + 60_000);
    await expireFeeds(service.db, await planExpiry(service.db, [{ accountUuid, count: 1 }], soon));
    expect((await read(target)).as_of).toBeGreaterThan(1_700_000_000);
  });

  test('forgets the counts of orders that no window shows', async () => {
    const { target, accountUuid, act } = await ordered(good);
    await act(0, { action: 'download' });
    await counted();
    const clock = { nowMs: () => service.clock.nowMs() + 746 * 3_600_000 };
    await removeOld({ db: service.db, clock }, { tables: ['order_counts', 'esim_milestones'] });
    expect(countsIn(await read(target)).provisioned).toBe(0);
    const { rows } = await service.db.pool.query('select from esim_milestones where account_id = $1', [
      accountUuid,
    ]);
    expect(rows).toEqual([]);
  });

  test.each([
    ['from=5&until=4', 'from', /from must be before until/],
    ['from=1&until=90000000', 'from', /at most 744 hours/],
    ['until=soon', 'until', /must be an integer/],
  ])('refuses %s', async (query, param, message) => {
    const { status, json } = await call(service, 'GET', `/v1/overview?${query}`);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'parameter_invalid', param]);
    expect(json.error.message).toMatch(message);
  });
});

describe('a search', () => {
  const find = async (q: string, target: { url: string; key: string } = service): Promise<Json[]> =>
    (await get(`/v1/search?q=${encodeURIComponent(q)}`, target)).data;

  test('finds an eSIM by its ICCID, and by its last digits', async () => {
    const path = `/v1/esims/${iccid}`;
    for (const q of [iccid, ` ${iccid} `, iccid.slice(-12), iccid.slice(-4)]) {
      const found = (await find(q)).find(({ id }) => id === iccid);
      expect(found, q).toMatchObject({ object: 'search_result', type: 'esim', path });
    }
    expect(await find(iccid.slice(0, -1))).toEqual([]);
    expect(await find(`9${iccid.slice(-5)}`)).toEqual([]);
    expect(await get(path)).toMatchObject({ iccid });
  });

  test('by last digits returns the newest 20, and only those that end with all digits', async () => {
    const { accountUuid, key } = await service.createAccount('Many');
    await service.db.pool.query(
      `insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, created_at)
       select $1, uuid_v7(now() + n * interval '1 second'), '89999' || lpad(n::text, 10, '0') || '4711', gen_random_uuid(), 'p',
         'provisioned', '{}', now() from generate_series(1, 25) n`,
      [accountUuid],
    );
    const target = { url: service.url, key };
    const found = (await find('4711', target)).map(({ id }) => id.slice(-6));
    expect(found).toEqual(Array.from({ length: 20 }, (_, n) => `${String(25 - n).padStart(2, '0')}4711`));
    expect(await find('174711', target)).toHaveLength(1);
  });

  test('finds every kind of id, and its path returns the object', async () => {
    const { json: endpoint } = await call(service, 'POST', '/v1/webhook_endpoints', {
      body: { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] },
    });
    const [event] = (await get('/v1/events?limit=1')).data;
    const replayed = await call(service, 'POST', `/v1/events/${event.id}/replay`, { body: {} });
    const { json: recovery } = await call(service, 'POST', `/v1/webhook_endpoints/${endpoint.id}/recover`, {
      body: { since: event.created },
    });
    const { json: batch } = await call(service, 'POST', '/v1/batches', {
      body: { product_id: 'prod_europe_5gb_30d', quantity: 1 },
    });
    const [bundle] = (await get(`/v1/esims/${iccid}/bundles`)).data;
    const { api_key: own } = await get('/v1/me');
    const [delivery] = replayed.json.deliveries;
    const [entry] = (await get(`/v1/audit_log?target=${endpoint.id}`)).data;
    const request = replayed.headers.get('request-id') as string;
    await until(
      () => call(service, 'GET', `/v1/requests/${request}`),
      ({ status }) => status === 200,
    );
    const ids = {
      event: event.id,
      execution: order,
      webhook_endpoint: endpoint.id,
      delivery: delivery.id,
      bundle: bundle.id,
      recovery: recovery.id,
      batch: batch.id,
      api_key: own.id,
      request,
      audit_entry: entry.id,
      account: idOfUuid('acct', service.accountUuid),
    };
    const byName = ['esim', 'product', 'event_consumer', 'idempotency_key'];
    expect([...byName, ...Object.keys(ids)].sort()).toEqual([...searchTypes].sort());
    for (const [type, id] of Object.entries(ids)) {
      const [result, ...others] = await find(id);
      expect([result, others], type).toMatchObject([{ type, id, object: 'search_result' }, []]);
      expect(JSON.stringify(await get(result.path)), type).toContain(id);
      expect(await find(id, other), type).toEqual([]);
    }
    await call(service, 'DELETE', `/v1/webhook_endpoints/${endpoint.id}`);
  });

  test('finds a delivery that waits behind others by its id', async () => {
    const { rows } = await service.db.pool.query(
      `insert into blocked_deliveries (account_id, id, event_id, endpoint_id, origin, order_key, created_at)
       values ($1, uuid_v7(now()), uuid_v7(now()), uuid_v7(now()), 'event', 'k', now())
       returning id`,
      [service.accountUuid],
    );
    const id = idOfUuid('dlv', rows[0].id);
    expect(await find(id)).toMatchObject([{ type: 'delivery', id, title: 'Delivery: pending' }]);
    await service.db.pool.query('delete from blocked_deliveries where id = $1', [rows[0].id]);
  });

  test('finds a product and an event consumer by what they are called', async () => {
    await call(service, 'PUT', '/v1/event_consumers/found', { body: {} });
    for (const [type, id] of [
      ['product', 'prod_europe_5gb_30d'],
      ['event_consumer', 'found'],
    ] as const) {
      const [result, ...others] = await find(id);
      expect([result, others]).toMatchObject([{ type, id }, []]);
      expect(JSON.stringify(await get(result.path))).toContain(id);
    }
    expect(await find('found', other)).toEqual([]);
  });

  test('finds an open order by its ICCID and its id', async () => {
    const open = '8999901777700007777';
    await service.db.pool.query(
      `insert into execution_queue (account_id, id, type, iccid, product_id, input, attempts, fence, created_at, due_at)
       values ($1, $2, 'esim.provision', $3, 'p', '{}', 1, 1, now(), now() + interval '1 day')`,
      [service.accountUuid, service.service.newUuid().toString('hex'), open],
    );
    expect(await find(open)).toMatchObject([{ type: 'esim', title: 'eSIM, provisioning' }]);
  });

  test('finds an idempotency key with what its request created', async () => {
    expect(await find('lookup-order-1')).toMatchObject([
      { type: 'idempotency_key', id: 'lookup-order-1', path: `/v1/executions/${order}` },
    ]);
    expect([await find('lookup-order-'), await find('lookup-order-1', other)]).toEqual([[], []]);
  });

  test('shows other API keys and the audit log only to those that manage keys', async () => {
    const reader = await service.createKey({ scopes: ['read'] });
    const { api_key: ofReader } = await get('/v1/me', { url: service.url, key: reader });
    const { api_key: ofService } = await get('/v1/me');
    const asReader = { url: service.url, key: reader };
    expect(await find(ofReader.id, asReader)).toMatchObject([{ type: 'api_key', path: '/v1/me' }]);
    expect(await find(ofService.id, asReader)).toEqual([]);
    expect(await find(ofReader.id)).toMatchObject([{ type: 'api_key' }]);
    const [entry] = (await get('/v1/audit_log?limit=1')).data;
    expect([await find(entry.id, asReader), await find(entry.id)]).toMatchObject([[], [{ id: entry.id }]]);
    // An operator that looks at the account sees what its admins see.
    const operator = await service.createKey({ scopes: ['operator'] });
    const headers = { 'Service-Account': idOfUuid('acct', service.accountUuid) };
    for (const id of [ofService.id, entry.id]) {
      const { json } = await call(service, 'GET', `/v1/search?q=${id}`, { key: operator, headers });
      expect(json.data).toMatchObject([{ id }]);
    }
  });

  test('finds nothing of another account, or that is not complete, or that is no id', async () => {
    expect([await find(iccid, other), await find(iccid.slice(-6), other), await find(order, other)]).toEqual([
      [],
      [],
      [],
    ]);
    for (const q of [
      order.slice(0, -1),
      'exec_',
      '____',
      'constructor_x',
      "' or 1=1 --",
      '%%%%',
      'req_1234',
    ]) {
      expect(await find(q), q).toEqual([]);
    }
  });

  test.each([
    ['', 'q', /q is (missing|required)/],
    ['?q=', 'q', /must not be empty/],
    [`?q=${'x'.repeat(501)}`, 'q', /at most 500 characters/],
    ['?q=abcd%00', 'q', /U\+0000/],
  ])('refuses %s', async (query, param, message) => {
    const { status, json } = await call(service, 'GET', `/v1/search${query}`);
    expect([status, json.error.param]).toEqual([400, param]);
    expect(json.error.message).toMatch(message);
  });
});

describe('the usage of an eSIM', () => {
  const hour = 3_600;
  const day = 24 * hour;
  /** A full day, three days ago: the last 24 hours never reach the day after it, even just after midnight. */
  const start = Math.floor(Date.now() / 1000 / day) * day - 3 * day;
  let own: string;

  beforeAll(async () => {
    own = (await ended((await provision(service)).json.id)).iccid;
    // Ordered before any of its usage.
    await service.db.pool.query(`update esims set created_at = '2026-01-01' where iccid = $1`, [own]);
    const record = (record_id: string, at: number, bytes: number) => ({ record_id, iccid: own, at, bytes });
    const records = [
      record('a', start, 1),
      record('b', start + hour - 1, 10),
      record('b', start + hour - 1, 10),
      record('c', start + hour, 100),
      record('d', start + day, 1_000),
    ];
    for (const batch of [records, records.toReversed()]) {
      const { status } = await call(service, 'POST', '/v1/usage_records', { body: { records: batch } });
      expect(status).toBe(200);
    }
  });

  const usage = (query: string) => get(`/v1/esims/${own}/usage${query}`);
  const bytesOf = ({ points }: Json) => points.map((point: Json) => point.used_bytes);

  test('has every hour or day of the window, each record once, in the interval of its time', async () => {
    const hours = await usage(`?interval=hour&from=${start}&until=${start + 4 * hour}`);
    expect(hours).toMatchObject({ object: 'esim_usage', iccid: own, interval: 'hour', used_bytes: 111 });
    expect(hours.points).toEqual([
      { start, used_bytes: 11 },
      { start: start + hour, used_bytes: 100 },
      { start: start + 2 * hour, used_bytes: 0 },
      { start: start + 3 * hour, used_bytes: 0 },
    ]);
    const days = await usage(`?interval=day&from=${start - 1}&until=${start + day + 1}`);
    expect([days.from, days.until, bytesOf(days)]).toEqual([start - day, start + 2 * day, [0, 111, 1_000]]);
  });

  test('shows the last 30 days by default, or the last 24 hours', async () => {
    const days = await usage('');
    expect([days.interval, days.used_bytes, days.points.length]).toEqual(['day', 1_111, 30]);
    expect(days.until).toBeGreaterThan(Date.now() / 1000);
    const hours = await usage('?interval=hour');
    expect([hours.used_bytes, hours.points.length]).toEqual([0, 24]);
  });

  test('is not found in another account', async () => {
    const hidden = await call(other, 'GET', `/v1/esims/${own}/usage`);
    expect([hidden.status, hidden.json.error.code]).toEqual([404, 'resource_missing']);
  });

  test.each([
    ['interval=week', 'interval', /must be one of hour, day/],
    ['interval=hour&from=1&until=2700000', 'from', /at most 744 hours/],
    ['interval=hour&from=0&until=2678401', 'from', /at most 744 hours/],
    ['from=1&until=32000000', 'from', /at most 366 days/],
    ['from=2&until=2', 'from', /before until/],
    ['from=-1', 'from', /at least 0/],
  ])('refuses %s', async (query, param, message) => {
    const { status, json } = await call(service, 'GET', `/v1/esims/${own}/usage?${query}`);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'parameter_invalid', param]);
    expect(json.error.message).toMatch(message);
  });
});
