import { afterEach, expect, test } from 'vitest';
import { createRunners } from '../../src/background/execution-runners.ts';
import { parseIccidRanges } from '../../src/orders/esims/iccid-ranges.ts';
import { createObservationHandler } from '../../src/orders/observations/handle-observation.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { call, provision, type Reply } from '../support/client.ts';
import type { Mischief, SmdpCall } from '../support/fake-smdp.ts';
import { startService, type TestService } from '../support/service.ts';
import { type SmdpSetup, startSmdpSetup } from '../support/smdp-setup.ts';
import { until } from '../support/until.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const four = '8988303000000000002-8988303000000000036';
const numbers = ['8988303000000000002', '8988303000000000010', '8988303000000000028', '8988303000000000036'];
const [first, second, third, fourth] = numbers as [string, string, string, string];

type Started = { service: TestService; setup: SmdpSetup };

async function start({
  ranges = four,
  workers = 1,
  concurrency = 1,
  retryScheduleMs = [5, 5],
} = {}): Promise<Started> {
  const setup = await startSmdpSetup();
  const service = await startService({ mode: 'live' });
  stops.push(service.stop, setup.stop);
  const parsed = parseIccidRanges(ranges);
  if (!parsed) throw new Error('no ranges');
  for (let i = 0; i < workers; i++) {
    const runners = createRunners(parsed);
    service.startWorker(setup.network, { runners, concurrency, retryScheduleMs });
  }
  return { service, setup };
}

async function finished(service: TestService, { json }: Reply) {
  const look = async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json;
  return until(look, ({ status }) => status === 'succeeded' || status === 'failed');
}

async function order({ service, setup }: Started, mischief?: (made: SmdpCall) => Mischief | undefined) {
  setup.smdp.onCall((made) => mischief?.(made));
  return finished(service, await provision(service));
}

const refuse = (code: string) => () => ({ code });

test('a refused order gives its number back: the next order gets it, and no eSIM has it meanwhile', async () => {
  const started = await start();
  for (let i = 0; i < 6; i++) {
    const failed = await order(started, refuse('8.2.5/3.9'));
    expect(failed).toMatchObject({
      status: 'failed',
      iccid: null,
      error: { code: 'declined', upstream: { iccid: first, reason_code: '3.9' } },
    });
  }
  const { service, setup } = started;
  expect((await call(service, 'GET', `/v1/esims/${first}`)).status).toBe(404);
  expect((await call(service, 'GET', '/v1/esims')).json.data).toEqual([]);
  const events = (await call(service, 'GET', '/v1/events')).json.data;
  expect(events).toHaveLength(6);
  for (const { data } of events) expect(data).not.toHaveProperty('iccid');
  for (const iccid of numbers) expect(await order(started)).toMatchObject({ status: 'succeeded', iccid });
  expect(await order(started)).toMatchObject({ status: 'failed', error: { code: 'out_of_stock' } });
  for (const { reservations } of setup.smdp.profiles.values()) expect(reservations).toBe(1);
});

test('an order that provably never arrived gives its number back', async () => {
  const started = await start();
  const failed = await order(started, () => ({ status: 403, isDone: false }));
  expect(failed).toMatchObject({ status: 'failed', iccid: null, attempts: 3 });
  expect(await order(started)).toMatchObject({ status: 'succeeded', iccid: first });
});

test('a number that the SM-DP+ objects to is used again only when no other is left', async () => {
  const started = await start();
  for (const code of ['8.2.1/3.9', '9.9.9/7.7']) {
    expect(await order(started, refuse(code))).toMatchObject({ status: 'failed', iccid: null });
  }
  for (const iccid of [third, fourth, first, second]) {
    expect(await order(started)).toMatchObject({ status: 'succeeded', iccid });
  }
});

test.each<[string, (made: SmdpCall, times: number) => Mischief | undefined]>([
  ['that is in use at the SM-DP+', () => ({ code: '8.2.1/3.3' })],
  [
    'whose first answer was lost',
    (_, times) => (times === 1 ? { status: 500, isDone: true } : { code: '8.2.5/3.7' }),
  ],
  ['whose outcome is unknown', () => ({ status: 500, isDone: true })],
  [
    'that was reserved before the order failed',
    ({ name }) => (name === 'confirmOrder' ? { code: '8.1.1/2.2' } : undefined),
  ],
])('a number %s is not given back', async (_, mischief) => {
  const started = await start();
  let times = 0;
  expect(await order(started, (made) => mischief(made, ++times))).toMatchObject({
    status: 'failed',
    iccid: first,
  });
  expect((await call(started.service, 'GET', `/v1/esims/${first}`)).json.status).toBe('failed');
  expect(await order(started)).toMatchObject({ status: 'succeeded', iccid: second });
});

test('a number that the network has reported on is not given back', async () => {
  const started = await start();
  const { service, setup } = started;
  setup.smdp.onCall(async () => {
    const seen = { iccid: first, at: new Date(), kind: 'profile', state: 'downloaded' } as const;
    await createObservationHandler(service.service)(seen);
    return { code: '8.2.5/3.9' };
  });
  expect(await finished(service, await provision(service))).toMatchObject({ iccid: first });
  expect(await order(started)).toMatchObject({ status: 'succeeded', iccid: second });
});

test('a number whose eSIM is being terminated is not given back', async () => {
  const started = await start();
  const { service, setup } = started;
  let deleted: Reply | undefined;
  setup.smdp.onCall(async ({ name }) => {
    if (name !== 'downloadOrder') return undefined;
    deleted = await call(service, 'DELETE', `/v1/esims/${first}`);
    return { code: '8.2.5/3.9' };
  });
  expect(await finished(service, await provision(service))).toMatchObject({ iccid: first });
  expect(await finished(service, deleted as Reply)).toMatchObject({ status: 'succeeded' });
  expect((await call(service, 'GET', `/v1/esims/${first}`)).json.status).toBe('terminated');
  expect(await order(started)).toMatchObject({ status: 'succeeded', iccid: second });
});

test('a number whose order could not be stored is not lost', async () => {
  const setup = await startSmdpSetup();
  const service = await startService({ mode: 'live' });
  stops.push(service.stop, setup.stop);
  const { db } = service.service;
  let failures = 0;
  /** The first statements that store an allotment fail, as in a failover. */
  const failing = (on: Queryable): Queryable => ({
    query(statement, values) {
      if (statement.name === 'esim_allot' && failures++ < 2) throw new Error('failed on purpose');
      return on.query(statement, values);
    },
  });
  service.startWorker(setup.network, {
    db: { ...db, ...failing(db), transaction: (work) => db.transaction((tx) => work(failing(tx))) },
    runners: createRunners(parseIccidRanges(four)),
    leaseMs: 1_000,
  });
  const accepted = [await provision(service), await provision(service)];
  const ended = await Promise.all(accepted.map((each) => finished(service, each)));
  expect(failures).toBeGreaterThan(2);
  expect(ended.map(({ iccid }) => iccid).sort()).toEqual([first, second]);
  expect(await order({ service, setup })).toMatchObject({ status: 'succeeded', iccid: third });
});

test('many refused and successful orders in two processes use no number twice and lose none', async () => {
  const { service, setup } = await start({
    ranges: '898830300000123',
    workers: 2,
    concurrency: 4,
    retryScheduleMs: Array(50).fill(50), // a busy machine may need more than 5 s for a connection
  });
  setup.smdp.onCall(({ name, profileType }) =>
    name === 'downloadOrder' && profileType === 'prod_us_1gb_7d' ? { code: '8.2.5/3.7' } : undefined,
  );
  const products = Array.from({ length: 60 }, (_, i) => (i % 3 ? 'prod_us_1gb_7d' : 'prod_europe_5gb_30d'));
  const accepted = await Promise.all(
    products.map((product_id) => provision(service, undefined, { product_id })),
  );
  const ended = await Promise.all(accepted.map((each) => finished(service, each)));
  const used = ended.filter(({ status }) => status === 'succeeded').map(({ iccid }) => iccid);
  expect([used.length, new Set(used).size]).toEqual([20, 20]);
  for (const { reservations } of setup.smdp.profiles.values()) expect(reservations).toBe(1);
  const [row] = await service.db.query<{ taken: number; returned: number }>({
    name: 'test_taken_and_returned',
    text: 'select taken, (select count(*) from returned_iccids) as returned from iccid_ranges',
  });
  expect((row?.taken as number) - (row?.returned as number)).toBe(20);
});
