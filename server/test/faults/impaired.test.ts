import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from '@simplane/contract';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServer, type PostgresServer } from '../../../faults/src/deployment/postgres-server.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { canFillDisk, fillDisk, freeDisk } from '../support/fill-disk.ts';
import { type ServerProcess, spawnServer } from '../support/process.ts';
import { until } from '../support/until.ts';

const key = 'sp_test_reads_go_on_without_writes';

let postgres: PostgresServer;
let server: ServerProcess;
let target: { url: string; key: string };
let esim: string;

beforeAll(async () => {
  postgres = await createServer({ wal_level: 'replica', max_wal_senders: '2' });
  await postgres.start();
  server = await spawnServer({ DATABASE_URL: postgres.url('simplane'), SIMPLANE_API_KEY: key });
  target = { url: server.url, key };
  const { json: order } = await provision(target);
  const { iccid } = await until(
    async () => (await call(target, 'GET', `/v1/executions/${order.id}`)).json,
    ({ status }) => status === 'succeeded',
  );
  esim = `/v1/esims/${iccid}`;
});
afterAll(async () => {
  expect(await server.end('SIGTERM')).toBe(0);
  await postgres.remove();
});

const readiness = () => call(target, 'GET', '/readyz', { key: null });
const untilStatus = (status: 'ok' | 'impaired') => until(readiness, ({ json }) => json.status === status);

/** Everything that an account reads without naming an object. */
const lists = Object.values(operations)
  .filter(({ method, path, scope }) => method === 'GET' && !path.includes('{') && scope !== 'operator')
  .map(({ path }) => (path === '/v1/search' ? `${path}?q=nothing` : path));

/** A load balancer and its clients' reads. Returns what was answered other than 200. */
function startReading() {
  const refused: string[] = [];
  let isStopped = false;
  const running = (async () => {
    while (!isStopped) {
      for (const path of ['/readyz', esim, `${esim}/bundles`, ...lists]) {
        const { status, text } = await call(target, 'GET', path);
        if (status !== 200) refused.push(`${path}: ${status} ${text}`);
      }
      await sleep(200); // leaves the cores to the other tests
    }
  })();
  return async () => {
    isStopped = true;
    await running;
    return refused;
  };
}

const writes = (round: number): Promise<Reply>[] => [
  provision(target, `order-${round}`),
  call(target, 'PATCH', esim, { body: { metadata: { round: `${round}` } } }),
  call(target, 'POST', '/v1/webhook_endpoints', {
    body: { url: 'http://127.0.0.1:9/hook', enabled_event_types: ['*'] },
  }),
];

async function expectWritesRefused(round: number): Promise<void> {
  for (const { status, json, headers } of await Promise.all(writes(round))) {
    expect([status, json.error?.code]).toEqual([503, 'unavailable']);
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }
  // No activation code is shown without an entry in the audit log.
  expect((await call(target, 'GET', `${esim}/install`)).status).toBe(503);
}

async function metricOf(what: string): Promise<number> {
  return Number(
    new RegExp(`^simplane_impaired\\{what="${what}"\\} (\\d)$`, 'm').exec(await server.metrics())?.[1],
  );
}

/** Makes commits wait for this standby, as when a synchronous standby is lost; '' ends the wait. */
async function requireStandby(name: string): Promise<void> {
  await postgres.query('postgres', `alter system set synchronous_standby_names = '${name}'`);
  await postgres.query('postgres', 'select pg_reload_conf()');
}

test('with a lost synchronous standby, a process notices by itself, stays ready for reads and says that writes fail', async () => {
  expect((await readiness()).json).toEqual({ status: 'ok', impaired: [] });
  expect([await metricOf('writes'), await metricOf('clock')]).toEqual([0, 0]);
  const stopReading = startReading();
  await requireStandby('nobody');
  const { status, json } = await untilStatus('impaired');
  expect(status).toBe(200);
  const message = 'Writes fail, because commits wait for a synchronous standby that is down. Reads go on.';
  expect(json.impaired).toEqual([{ what: 'writes', message }]);
  expect((await call(target, 'GET', '/healthz')).json).toEqual(json);
  expect(await metricOf('writes')).toBe(1);
  await expectWritesRefused(1);
  expect((await readiness()).json).toEqual(json);

  await requireStandby('');
  await untilStatus('ok');
  expect(await stopReading()).toEqual([]);
  expect(await metricOf('writes')).toBe(0);
  for (const { status } of await Promise.all(writes(1))) expect(status).toBeLessThan(300);
});

test.runIf(canFillDisk)(
  'with a full disk, a process stays ready for reads and says that writes fail, until there is room again',
  async () => {
    await untilStatus('ok');
    const stopReading = startReading();
    await fillDisk(postgres.url('simplane'));
    await expectWritesRefused(2);
    const { status, json } = await readiness();
    expect(status).toBe(200);
    const message = 'Writes fail, because PostgreSQL’s disk is full. Reads go on.';
    expect(json).toEqual({ status: 'impaired', impaired: [{ what: 'writes', message }] });
    expect(await metricOf('writes')).toBe(1);
    await expectWritesRefused(3);
    expect(server.output()).toContain(`"reason":"PostgreSQL’s disk is full"`);

    await freeDisk(postgres.url('simplane'));
    for (const { status } of await Promise.all(writes(3))) expect(status).toBeLessThan(300);
    await untilStatus('ok');
    expect(await stopReading()).toEqual([]);
    expect(await metricOf('writes')).toBe(0);
  },
);

test('a process that cannot store its heartbeats says that writes fail, whatever the reason', async () => {
  await untilStatus('ok');
  const client = new pg.Client({ connectionString: postgres.url('simplane') });
  await client.connect();
  await client.query('begin; lock table processes');
  const { json } = await untilStatus('impaired');
  expect(json.impaired).toMatchObject([{ what: 'writes', message: expect.stringContaining('no heartbeat') }]);
  await client.query('rollback');
  await client.end();
  await untilStatus('ok');
});
