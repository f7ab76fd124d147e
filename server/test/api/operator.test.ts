import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOperator } from '../../../sdk/src/index.ts';
import { importCatalog } from '../../src/accounts/products/import-catalog.ts';
import { seedSandbox } from '../../src/accounts/products/sandbox-catalog.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { createIccidSource } from '../../src/orders/esims/iccid.ts';
import { countIccidRanges } from '../../src/orders/esims/list-iccid-ranges.ts';
import { createDatabaseClock, readDatabaseMs } from '../../src/platform/db/database-clock.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import type { ProcessReport } from '../../src/platform/processes/report.ts';
import { startHeartbeat } from '../../src/platform/processes/start-heartbeat.ts';
import { createThroughput } from '../../src/platform/telemetry/throughput.ts';
import { countEvents } from '../../src/views/overview/count-events.ts';
import { call, provision } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
let operatorKey: string;
let operator: ReturnType<typeof createOperator>;

beforeAll(async () => {
  service = await startService();
  operatorKey = await service.createKey({ scopes: ['operator'] });
  operator = createOperator({ apiKey: operatorKey, baseUrl: service.url });
});
afterAll(() => service.stop());

const rethrow = (error: unknown) => {
  throw error;
};

const emptyReport: ProcessReport = {
  cell: null,
  encryption_keys: [],
  iccid_ranges: [],
  certificates: [],
  clock_skew_ms: 0,
  networks: [],
  throughput: createThroughput().read(),
};

/** A process of this deployment. The test writes its heartbeats itself: the next one by the timer is an hour away. */
function startProcess(
  role: 'all' | 'api' | 'worker',
  report: () => ProcessReport = () => emptyReport,
  clock = createDatabaseClock(),
) {
  const { db, newUuid } = service.service;
  const rarely = { onError: rethrow, beatMs: 3_600_000 };
  return startHeartbeat({ db, clock, newUuid, role, version: '1.2.3', report, ...rarely });
}

describe('processes', () => {
  test('report and measure at once when their machine’s clock is set', async () => {
    const report = { ...emptyReport };
    const heartbeat = await startProcess('worker', () => report);
    report.clock_skew_ms = 2_001;
    await expect
      .poll(async () => (await operator.processes.list()).data.map((one) => one.clock_skew_ms))
      .toEqual([2_001]);
    await heartbeat.stop();
  });

  test('report at once that a network which they call is paused or went down', async () => {
    const network = {
      ...{ kind: 'smdp' as const, host: 'smdp.example.com', reachable: true, paused: false },
      ...{ latency_ms: null, tried_ms_ago: null, last_error: null, peer_ends_at: null },
    };
    const report = { ...emptyReport, networks: [network] };
    const heartbeat = await startProcess('worker', () => report);
    const reported = async () => {
      const { rows } = await service.db.pool.query(
        `select report #> '{networks,0,paused}' as paused, report #> '{networks,0,reachable}' as reachable from processes`,
      );
      return rows;
    };
    expect(await reported()).toEqual([{ paused: false, reachable: true }]);
    report.networks = [{ ...network, paused: true }];
    await expect.poll(reported).toEqual([{ paused: true, reachable: true }]);
    report.networks = [{ ...network, paused: true, reachable: false }];
    await expect.poll(reported).toEqual([{ paused: true, reachable: false }]);
    await heartbeat.stop();
  });

  test('show how far their machine’s clock is ahead; null if their release does not report it', async () => {
    const off = await startProcess('worker', () => ({ ...emptyReport, clock_skew_ms: -2_500 }));
    const older = await startProcess('api', () => ({ ...emptyReport, clock_skew_ms: undefined as never }));
    const { data } = await operator.processes.list();
    expect(data.map((one) => one.clock_skew_ms)).toEqual([null, -2_500]);
    await Promise.all([off.stop(), older.stop()]);
  });

  test('are late once they could not store five heartbeats in a row, and no longer after the next one', async () => {
    const { db, newUuid } = service.service;
    const admin = await db.pool.connect();
    const heartbeat = await startHeartbeat({
      ...{ db, clock: createDatabaseClock(), newUuid, role: 'worker', version: '1.2.3', beatMs: 100 },
      report: () => emptyReport,
      onError: () => {},
    });
    expect(heartbeat.isLate()).toBe(false);
    await admin.query('begin; lock table processes');
    await expect.poll(heartbeat.isLate).toBe(true);
    await admin.query('rollback');
    admin.release();
    await expect.poll(heartbeat.isLate).toBe(false);
    await heartbeat.stop();
  });

  test('know whether another one runs', async () => {
    const { db, newUuid } = service.service;
    const seen: boolean[] = [];
    const start = () =>
      startHeartbeat({
        ...{ db, clock: createDatabaseClock(), newUuid, role: 'all', version: '1.2.3', onError: () => {} },
        report: () => emptyReport,
        onAlone: (isAlone) => void seen.push(isAlone),
      });
    const first = await start();
    const second = await start();
    await first.stop();
    const third = await start();
    await Promise.all([second.stop(), third.stop()]);
    await db.pool.query(
      `insert into processes select gen_random_uuid(), 'all', '', '', 1, now(), now() - interval '26 s', '{}'`,
    );
    await (await start()).stop();
    expect(seen).toEqual([true, false, false, true]);
  });

  const roles = async () => (await operator.processes.list()).data.map(({ role }) => role);

  test('correct their clock by PostgreSQL’s with each heartbeat', async () => {
    const clock = createDatabaseClock();
    const before = await readDatabaseMs(service.db);
    const heartbeat = await startProcess('worker', undefined, clock);
    expect(clock.nowMs()).toBeGreaterThanOrEqual(Math.floor(before));
    expect(clock.nowMs()).toBeLessThanOrEqual(await readDatabaseMs(service.db));
    await heartbeat.stop();
  });

  test('are listed while they run, with role, version, host and times of the database’s clock', async () => {
    const worker = await startProcess('worker');
    const api = await startProcess('api');
    const { data } = await operator.processes.list();
    expect(data).toMatchObject([
      { object: 'process', role: 'api', version: '1.2.3', pid: process.pid, host: expect.any(String) },
      { role: 'worker' },
    ]);
    const { rows } = await service.db.pool.query<{ now: number }>(
      'select extract(epoch from now())::integer as now',
    );
    const now = rows[0]?.now ?? 0;
    expect(Math.abs((data[0]?.last_seen_at ?? 0) - now)).toBeLessThan(25);
    expect(data[0]?.since).toBeLessThanOrEqual(data[0]?.last_seen_at ?? 0);
    await api.stop();
    expect(await roles()).toEqual(['worker']);
    await worker.stop();
    expect(await roles()).toEqual([]);
  });

  test('leave the list within 30 seconds of their last heartbeat, and the table with the next one of another', async () => {
    const killed = await startProcess('worker');
    const { pool } = service.db;
    await pool.query(`update processes set seen_at = now() - interval '24 seconds'`);
    expect(await roles()).toEqual(['worker']);
    await pool.query(`update processes set seen_at = now() - interval '26 seconds'`);
    expect(await roles()).toEqual([]);
    const other = await startProcess('all');
    expect((await pool.query('select role from processes')).rows).toEqual([{ role: 'all' }]);
    await Promise.all([killed.stop(), other.stop()]);
  });
});

describe('networks', () => {
  const smdp = {
    kind: 'smdp' as const,
    host: 'smdp.example.com:8443',
    reachable: true,
    latency_ms: 40,
    tried_ms_ago: 1_000,
    last_error: { message: 'ECONNRESET', ms_ago: 3_600_000 },
    peer_ends_at: '2031-01-01T00:00:00Z',
    paused: false,
  };
  const never = {
    reachable: null,
    latency_ms: null,
    tried_ms_ago: null,
    last_error: null,
    peer_ends_at: null,
  };
  const seconds = (text: string) => Date.parse(text) / 1_000;

  test('are shown once each, as all processes together see them', async () => {
    const report = (networks: ProcessReport['networks'], certificates: ProcessReport['certificates'] = []) =>
      startProcess('worker', () => ({ ...emptyReport, certificates, networks }));
    const down = { reachable: false, last_error: { message: 'HTTP 503', ms_ago: 5_000 }, paused: true };
    const core = { ...smdp, ...never, kind: 'core' as const, host: 'core.example.com' };
    const processes = [
      await report([smdp, core], [{ setting: 'SIMPLANE_ES2_CERT', ends_at: '2030-01-01T00:00:00Z' }]),
      await report([{ ...smdp, ...down, latency_ms: 90 }]),
      // An API process knows the certificates of the notification port.
      await report([], [{ setting: 'SIMPLANE_ES2_LISTEN_CERT', ends_at: '2029-01-01T00:00:00Z' }]),
    ];
    const { data: running } = await operator.processes.list();
    const { data } = await operator.networks.list();
    const now = running[0]?.last_seen_at ?? 0;
    expect(data).toMatchObject([
      { kind: 'core', host: 'core.example.com', reachable: null, last_error: null, certificates: [] },
      {
        kind: 'smdp',
        host: 'smdp.example.com:8443',
        reachable: false,
        unreachable_from: [running[1]?.id],
        paused: true,
        latency_ms: 90,
        last_error: { message: 'HTTP 503' },
        certificate_ends_at: seconds('2029-01-01T00:00:00Z'),
        certificates: [
          { name: 'SIMPLANE_ES2_CERT', ends_at: seconds('2030-01-01T00:00:00Z') },
          { name: 'SIMPLANE_ES2_LISTEN_CERT', ends_at: seconds('2029-01-01T00:00:00Z') },
          { name: 'peer', ends_at: seconds('2031-01-01T00:00:00Z') },
        ],
      },
    ]);
    expect(Math.abs((data[1]?.last_error?.at ?? 0) - (now - 5))).toBeLessThan(25);
    const [first, second] = [await operator.networks.list({ limit: 1 }), data[1]];
    const next = await operator.networks.list({ limit: 1, starting_after: first.next_cursor ?? '' });
    expect(next.data).toEqual([second]);
    await service.db.pool.query(`update processes set seen_at = now() - interval '26 seconds'`);
    expect((await operator.networks.list()).data).toEqual([]);
    await Promise.all(processes.map((one) => one.stop()));
  });
});

describe('ICCID ranges', () => {
  const [first, second] = [
    { first: '898830300000000000', size: 1_000 },
    { first: '898830400000000000', size: 500 },
  ];

  test('are listed with what is taken, free, returned and suspect, and how long they last at the last week’s pace', async () => {
    const worker = await startProcess('worker', () => ({ ...emptyReport, iccid_ranges: [first, second] }));
    const source = createIccidSource([first, second]);
    const [given, objected] = await source.allot(service.db, 100);
    await source.giveBack?.(service.db, given as string, 'free');
    await source.giveBack?.(service.db, objected as string, 'suspect');
    const read = async () => (await operator.iccidRanges.list()).data;
    await countIccidRanges(service.db);
    expect(await read()).toEqual([
      {
        object: 'iccid_range',
        first: '8988303000000000002',
        last: '8988303000000009995',
        size: 1_000,
        taken: 98,
        free: 901,
        returned: 1,
        suspect: 1,
        taken_last_week: null,
        days_left: null,
      },
      expect.objectContaining({
        first: '8988304000000000001',
        size: 500,
        taken: 0,
        free: 500,
        days_left: null,
      }),
    ]);
    // Of the counts of ten days, only those of the last week count.
    const { pool } = service.db;
    await pool.query(
      `insert into iccid_range_hours (first_number, hour, taken, counted_at)
       select '898830300000000000', date_trunc('hour', now()) - n * interval '1 day', case when n < 8 then 30 else 0 end,
         date_trunc('hour', now()) - n * interval '1 day'
       from generate_series(5, 10) n`,
    );
    await pool.query(`update iccid_range_hours set counted_at = now() - interval '7 days' where taken = 30`);
    expect(await read()).toMatchObject([
      { taken_last_week: 70, days_left: 90 },
      { taken_last_week: null, days_left: 140 },
    ]);
    const page = await operator.iccidRanges.list({ limit: 1 });
    const next = await operator.iccidRanges.list({ limit: 1, starting_after: page.next_cursor ?? '' });
    expect([page, next].map(({ data: [range] }) => range?.size)).toEqual([1_000, 500]);
    // Counting again in the same hour changes nothing, and forgets what is older than the pace looks back.
    await countIccidRanges(service.db);
    expect(await read()).toMatchObject([{ taken_last_week: 70 }, {}]);
    expect((await pool.query('select from iccid_range_hours where taken = 0')).rowCount).toBe(0);
    await worker.stop();
    expect(await read()).toEqual([]);
  });
});

describe('the overview', () => {
  test('sums up all accounts and processes: rates, backlogs with their age, the funnel and failures of the last day', async () => {
    const busy = createThroughput(() => 0);
    for (let n = 0; n < 3; n++) busy.count('requests');
    const report = () => ({ ...emptyReport, throughput: busy.read() });
    const processes = [await startProcess('api', report), await startProcess('api', report)];
    const other = await service.createAccount('Other');
    const worker = service.startWorker(createMockNetwork({ delayMs: 0 }));
    service.startSequencer();
    const orders = [
      await provision(service),
      await provision({ ...service, key: other.key }),
      await provision(service, undefined, { product_id: 'prod_sandbox_declined' }),
    ];
    for (const [index, { json }] of orders.entries()) {
      const target = { ...service, key: index === 1 ? other.key : service.key };
      await until(
        async () => (await call(target, 'GET', `/v1/executions/${json.id}`)).json.status,
        (status) => status === 'succeeded' || status === 'failed',
      );
    }
    await worker.stop(0);
    await provision(service);
    await service.db.pool.query(`update execution_queue set due_at = now() - interval '90 seconds'`);
    const overview = await until(
      async () => {
        await countEvents(service.service);
        return operator.overview();
      },
      ({ hours }) => hours.reduce((sum, { accepted }) => sum + accepted, 0) === 3,
    );
    expect(overview).toMatchObject({
      object: 'operator_overview',
      rates: {
        requests: { last_minute: 6, last_hour: 6 },
        executions_failed: { last_minute: 0, last_hour: 0 },
      },
      backlogs: { executions: { count: 1 }, deliveries: { count: 0, oldest_due_seconds: 0 } },
      failed_count: 1,
      failures: [{ stage: 'provisioned', code: 'declined', count: 1 }],
    });
    expect(overview.backlogs.executions.oldest_due_seconds).toBeGreaterThanOrEqual(90);
    expect(overview.funnel.map(({ stage, count }) => [stage, count])).toEqual([
      ['accepted', 4],
      ['provisioned', 2],
      ['downloaded', 0],
      ['installed', 0],
      ['active', 0],
    ]);
    expect(overview.hours.length).toBeGreaterThanOrEqual(24);
    expect(overview.clocks_off).toEqual([]);
    await Promise.all(processes.map((one) => one.stop()));
  });
});

test('the overview names the processes whose clock is more than 2 s off, ahead or behind', async () => {
  const processes = await Promise.all(
    [2_001, 2_000, -2_000, -31_000, undefined as never].map((clock_skew_ms) =>
      startProcess('worker', () => ({ ...emptyReport, clock_skew_ms })),
    ),
  );
  const { data } = await operator.processes.list();
  const { clocks_off } = await operator.overview();
  expect(clocks_off.map(({ clock_skew_ms }) => clock_skew_ms).sort()).toEqual([-31_000, 2_001]);
  for (const { process_id, host, clock_skew_ms } of clocks_off) {
    expect(data.find(({ id }) => id === process_id)).toMatchObject({ host, clock_skew_ms });
  }
  await Promise.all(processes.map((one) => one.stop()));
});

test('the endpoints of all accounts are listed with their backlog and its age, and filtered by status and failing', async () => {
  const other = await service.createAccount('With endpoints');
  const body = { url: 'https://example.com/', enabled_event_types: ['*'] };
  const made = [
    await call(service, 'POST', '/v1/webhook_endpoints', { body }),
    await call(service, 'POST', '/v1/webhook_endpoints', { body, key: other.key }),
  ];
  const [first, second] = made.map(({ json }) => json.id as string);
  await call(service, 'PATCH', `/v1/webhook_endpoints/${first}`, { body: { status: 'disabled' } });
  await call(service, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} }, key: other.key });
  service.clock.advance(90_000);
  await service.db.pool.query(
    `update webhook_endpoints set failing_since = now(), failure_count = 3, last_error = 'status 503' where status = 'enabled'`,
  );
  await service.db.pool.query(
    `update webhook_endpoints set disabled_reason = 'It failed.' where status = 'disabled'`,
  );
  const { data } = await operator.endpointHealth.list();
  expect(data).toMatchObject([
    {
      id: second,
      object: 'endpoint_health',
      account_id: idOfUuid('acct', other.accountUuid),
      status: 'enabled',
      failure_count: 3,
      last_error: 'status 503',
      backlog: { count: 1 },
    },
    {
      ...{ id: first, status: 'disabled', disabled_reason: 'It failed.' },
      ...{ failing_since: null, backlog: { count: 0, age_seconds: null } },
    },
  ]);
  expect(data[0]?.backlog.age_seconds).toBeGreaterThanOrEqual(90);
  const idsOf = async (filter: Parameters<typeof operator.endpointHealth.list>[0]) =>
    (await operator.endpointHealth.list(filter)).data.map(({ id }) => id);
  expect(await idsOf({ failing: true })).toEqual([second]);
  expect(await idsOf({ failing: false })).toEqual([first]);
  expect(await idsOf({ status: 'disabled' })).toEqual([first]);
  const wrong = await call(service, 'GET', '/v1/operator/endpoint_health?failing=yes', { key: operatorKey });
  expect(wrong.json.error).toMatchObject({ code: 'parameter_invalid', param: 'failing' });
});

describe('products', () => {
  const product = {
    name: 'Acme Europe 5 GB',
    countries: ['DE', 'FR'],
    data_bytes: 5_000_000_000,
    validity_days: 30,
    price: { amount: 999, currency: 'eur' },
    speeds: ['4G' as const],
  };
  const auditOf = async (id: string) =>
    (
      await service.db.pool.query(
        `select actor_type, action, changes from audit_log where target_type = 'product' and target_id = $1 order by id`,
        [id],
      )
    ).rows;
  const put = (id: string, body: object, idempotencyKey?: string) =>
    call(service, 'PUT', `/v1/operator/products/${id}`, {
      key: operatorKey,
      body,
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });

  test('are created, replaced and deactivated; each change is in the audit log once, with what changed', async () => {
    const id = 'acme-eu';
    const made = await operator.products.put(id, { ...product, listed: false, profile_type: 'ACME-EU' });
    expect(made).toMatchObject({ id, ...product, active: true, listed: false, profile_type: 'ACME-EU' });
    await put(id, { ...product, name: 'Acme EU' }, 'replace');
    expect(
      (await put(id, { ...product, name: 'Acme EU' }, 'replace')).headers.get('Idempotent-Replayed'),
    ).toBe('true');
    // Like a row of the catalog file: what is left out gets its default.
    expect(await operator.products.get(id)).toMatchObject({
      name: 'Acme EU',
      listed: true,
      profile_type: null,
    });
    expect(await call(service, 'GET', `/v1/products/${id}`)).toMatchObject({
      json: expect.not.objectContaining({ profile_type: null }),
    });
    expect(await operator.products.deactivate(id)).toMatchObject({ id, active: false, listed: true });
    expect((await provision(service, undefined, { product_id: id })).json.error.code).toBe('state_conflict');
    await operator.products.deactivate(id);
    expect(await auditOf(id)).toEqual([
      {
        actor_type: 'operator',
        action: 'product.updated',
        changes: expect.objectContaining({ name: product.name, profile_type: 'ACME-EU' }),
      },
      {
        actor_type: 'operator',
        action: 'product.updated',
        changes: {
          name: { from: product.name, to: 'Acme EU' },
          listed: { from: false, to: true },
          profile_type: { from: 'ACME-EU', to: null },
        },
      },
      {
        actor_type: 'operator',
        action: 'product.deactivated',
        changes: { active: { from: true, to: false } },
      },
      { actor_type: 'operator', action: 'product.deactivated', changes: {} },
    ]);
  });

  test('have every field that they were replaced with', async () => {
    const id = 'acme-replaced';
    const other = {
      ...{ name: 'Other', countries: ['IT'], data_bytes: 1, validity_days: 2, speeds: ['5G' as const] },
      ...{ price: { amount: 3, currency: 'usd' }, active: false, listed: false, profile_type: 'OTHER' },
      after_depletion: { action: 'throttle' as const, kbps: 128 },
    };
    await operator.products.put(id, product);
    await operator.products.put(id, other);
    expect(await operator.products.get(id)).toMatchObject({ id, ...other });
  });

  test('that are replaced by two at once tell what each of them replaced', async () => {
    const id = 'acme-contended';
    await operator.products.put(id, product);
    const first = await service.db.pool.connect();
    try {
      await first.query('begin');
      await first.query(`update products set name = 'First' where id = $1`, [id]);
      const second = operator.products.put(id, { ...product, name: 'Second' });
      await untilLockIsAwaited(service);
      await first.query('commit');
      await second;
    } finally {
      first.release(true);
    }
    const entries = await auditOf(id);
    expect(entries.at(-1)?.changes).toEqual({ name: { from: 'First', to: 'Second' } });
  });

  test('are all listed, page by page, with unlisted and inactive ones', async () => {
    const { rows } = await service.db.pool.query<{ id: string }>('select id from products');
    const listed: string[] = [];
    for await (const { id } of operator.products.list({ limit: 5 })) listed.push(id);
    expect(listed.toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
    expect(listed).toEqual(expect.arrayContaining(['acme-eu', 'prod_sandbox_flaky']));
  });

  test.each([
    ['no spaces', {}, 'id', 'parameter_invalid'],
    ['p', { price: { amount: '9.99', currency: 'eur' } }, 'price.amount', 'parameter_invalid'],
    ['p', { countries: ['DE', 'XX'] }, 'countries[1]', 'parameter_invalid'],
    ['p', { profile_type: ' ACME' }, 'profile_type', 'parameter_invalid'],
    ['p', { colour: 'red' }, 'colour', 'parameter_unknown'],
    ['p', { name: undefined }, 'name', 'parameter_missing'],
  ])('are refused with the field to change: %s %j', async (id, wrong, param, code) => {
    const { status, json } = await put(encodeURIComponent(id), { ...product, ...wrong });
    expect([status, json.error.code, json.error.param]).toEqual([400, code, param]);
    expect(await auditOf(id)).toEqual([]);
  });

  test('that do not exist cannot be read or deactivated', async () => {
    await expect(operator.products.get('none')).rejects.toMatchObject({ code: 'resource_missing' });
    await expect(operator.products.deactivate('none')).rejects.toMatchObject({ code: 'resource_missing' });
  });

  test('need a profile type in live mode, unless a running worker chooses ICCIDs from ranges', async () => {
    const live = await startService({ mode: 'live', databaseUrl: service.databaseUrl });
    const key = await live.createKey({ scopes: ['operator'] });
    const send = (body: object) =>
      call({ url: live.url, key }, 'PUT', '/v1/operator/products/live-eu', { body });
    expect((await send(product)).json.error).toMatchObject({
      code: 'parameter_missing',
      param: 'profile_type',
      message: expect.stringContaining('SIMPLANE_ICCID_RANGES'),
    });
    expect((await send({ ...product, active: false })).status).toBe(200);
    expect((await send({ ...product, profile_type: 'ACME-EU' })).status).toBe(200);
    const worker = await startProcess('worker', () => ({
      ...emptyReport,
      iccid_ranges: [{ first: '898830300000000000', size: 1_000 }],
    }));
    expect((await send(product)).status).toBe(200);
    await service.db.pool.query(`update processes set seen_at = now() - interval '26 seconds'`);
    expect((await send(product)).json.error).toMatchObject({ param: 'profile_type' });
    await worker.stop();
    await live.stop();
  });

  test('of the sandbox stay as the operator left them when a process starts', async () => {
    const set = (isActive: boolean) =>
      service.db.pool.query(`update products set active = $1 where id = 'prod_us_1gb_7d'`, [isActive]);
    await set(false);
    await seedSandbox(service.db, service.clock);
    expect(await operator.products.get('prod_us_1gb_7d')).toMatchObject({ active: false });
    await set(true);
  });

  test('of a catalog file that did not change leave no audit entry', async () => {
    const given = { ...product, id: 'imported', active: true, listed: true };
    expect(await importCatalog(service.db, service.service, [given])).toEqual({ inserted: 1, updated: 0 });
    expect(await importCatalog(service.db, service.service, [given])).toEqual({ inserted: 0, updated: 1 });
    await importCatalog(service.db, service.service, [{ ...given, active: false }]);
    expect(await auditOf('imported')).toMatchObject([
      { actor_type: 'command_line', action: 'product.updated' },
      { action: 'product.deactivated', changes: { active: { from: true, to: false } } },
    ]);
  });
});
