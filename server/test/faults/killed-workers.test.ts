import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { type ServerProcess, spawnRecordedServer } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { type RecordingNetwork, startRecordingNetwork } from '../support/recording-network.ts';
import { until } from '../support/until.ts';

const key = 'sp_test_killed_workers_sandbox';

let database: { url: string; drop(): Promise<void> };
let network: RecordingNetwork;
let env: Record<string, string>;
let api: ServerProcess;
let client: pg.Client;

beforeAll(async () => {
  database = await cloneDatabase();
  network = await startRecordingNetwork();
  env = {
    DATABASE_URL: database.url,
    SIMPLANE_API_KEY: key,
    RECORDER_URL: network.url,
    // Long, because a call that a busy machine delays would be one more attempt.
    SIMPLANE_EXECUTION_LEASE: '10m',
    SIMPLANE_NETWORK_TIMEOUT: '9m',
    SIMPLANE_MOCK_DELAY: '0s',
  };
  api = await spawnRecordedServer({ ...env, SIMPLANE_ROLE: 'api' });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await api.end('SIGTERM');
  await network.stop();
  await database.drop();
});
beforeEach(() => {
  network.calls.length = 0;
  network.onCall(() => undefined);
});

function worker(name: string, more: Record<string, string> = {}): Promise<ServerProcess> {
  return spawnRecordedServer({ ...env, SIMPLANE_ROLE: 'worker', WORKER_NAME: name, ...more });
}

/** As if the lease had ended. Tests below wait for that. */
async function endLease(executionId: string): Promise<void> {
  const text = 'update execution_queue set leased_until = now() where id = $1 and leased_until is not null';
  const { rowCount } = await client.query(text, [uuidOfId('exec', executionId)]);
  expect(rowCount).toBe(1);
}

async function settled(executionId: string) {
  const read = async () => (await call({ url: api.url, key }, 'GET', `/v1/executions/${executionId}`)).json;
  return until(read, ({ status }) => status === 'succeeded' || status === 'failed');
}

/** The visible results of one order: its eSIMs, bundles and events. */
async function resultsOf(executionId: string) {
  const { rows: esims } = await client.query(
    'select iccid, status from esims where iccid in (select iccid from executions where id = $1)',
    [uuidOfId('exec', executionId)],
  );
  const { rows: ofExecution } = await client.query('select iccid from esims where execution_id = $1', [
    uuidOfId('exec', executionId),
  ]);
  const { rows: bundles } = await client.query('select id from bundles where iccid = $1', [esims[0]?.iccid]);
  const { rows: events } = await client.query(
    `select type from events where body::jsonb -> 'data' ->> 'execution_id' = $1`,
    [executionId],
  );
  return { esims: ofExecution.length, bundles: bundles.length, events: events.map(({ type }) => type) };
}

describe('a worker killed', () => {
  test.each([
    ['before the first call', 'order:before', 1],
    ['after the first call, before its result is stored', 'order:after', 2],
    ['after the first result, before the second call', 'confirm:before', 2],
    ['after the second call, before it is settled', 'confirm:after', 2],
  ])('%s: another takes over, and one eSIM, event and order result', async (_, moment, orders) => {
    const doomed = await worker('doomed', { DIE_AT: moment });
    const accepted = await provision({ url: api.url, key });
    expect(await doomed.ended).toBe('SIGKILL');
    await endLease(accepted.json.id);
    const successor = await worker('successor');
    try {
      const execution = await settled(accepted.json.id);
      expect(execution).toMatchObject({ status: 'succeeded', attempts: 2 });
      expect(network.idsOf('order').size).toBe(1);
      expect(network.idsOf('confirm').size).toBe(1);
      expect(network.calls.filter(({ step }) => step === 'order')).toHaveLength(orders);
      expect(new Set(network.calls.map(({ iccid }) => iccid))).toEqual(new Set([execution.iccid]));
      expect(await resultsOf(execution.id)).toEqual({ esims: 1, bundles: 1, events: ['esim.provisioned'] });
    } finally {
      expect(await successor.end('SIGTERM')).toBe(0);
    }
  });
});

test('the order and the webhook of a killed worker go on when its beat has stopped, however long its leases are', async () => {
  const receiver = await startReceiver();
  receiver.answer(() => {}); // the first sender is killed meanwhile
  const endpoint = { url: `${receiver.url}/hook`, enabled_event_types: ['test.*'] };
  await call({ url: api.url, key }, 'POST', '/v1/webhook_endpoints', { body: endpoint });
  const doomed = await worker('doomed');
  const reached = new Promise<void>((resolve) => {
    network.onCall(() => {
      resolve();
      return new Promise(() => {});
    });
  });
  const accepted = await provision({ url: api.url, key });
  await call({ url: api.url, key }, 'POST', '/v1/events/test', { body: { type: 'test.one', data: {} } });
  await reached;
  await until(
    async () => receiver.received.length,
    (count) => count === 1,
  );
  await doomed.end('SIGKILL');
  await client.query(`update endpoint_leases set leased_until = now() + interval '1 hour'`);
  network.onCall(() => undefined);
  receiver.answer((response) => response.end());
  const successor = await worker('successor');
  expect(await settled(accepted.json.id)).toMatchObject({ status: 'succeeded', attempts: 2 });
  await until(
    async () => receiver.received.length,
    (count) => count === 2,
  );
  const { rows } = await client.query('select count(*)::int as count from workers');
  expect(rows).toEqual([{ count: 1 }]);
  await successor.end('SIGTERM');
  await receiver.stop();
});

test('a worker frozen past its lease cannot settle an execution that another worker took over', async () => {
  const frozen = await worker('frozen', { SIMPLANE_EXECUTION_LEASE: '5s', SIMPLANE_NETWORK_TIMEOUT: '4s' });
  const reached = new Promise<void>((resolve) => {
    network.onCall((recorded) => {
      if (recorded.worker !== 'frozen') return undefined;
      process.kill(frozen.pid, 'SIGSTOP');
      resolve();
      return undefined;
    });
  });
  const accepted = await provision({ url: api.url, key });
  await reached;
  const successor = await worker('successor');
  try {
    const execution = await settled(accepted.json.id);
    expect(execution).toMatchObject({ status: 'succeeded', attempts: 2 });
    process.kill(frozen.pid, 'SIGCONT');
    expect(await frozen.end('SIGTERM')).toBe(0);
    expect(network.idsOf('order').size).toBe(1);
    expect((await call({ url: api.url, key }, 'GET', `/v1/executions/${execution.id}`)).json).toEqual(
      execution,
    );
    expect(await resultsOf(execution.id)).toEqual({ esims: 1, bundles: 1, events: ['esim.provisioned'] });
  } finally {
    await successor.end('SIGTERM');
  }
});

test('a worker stopped during a call releases its execution, and another worker continues at once', async () => {
  network.onCall((recorded) => (recorded.worker === 'stopping' ? new Promise(() => {}) : undefined));
  const stopping = await worker('stopping', { SIMPLANE_SHUTDOWN_TIMEOUT: '200ms' });
  const accepted = await provision({ url: api.url, key });
  await until(
    async () => network.calls.length,
    (count) => count > 0,
  );
  expect(await stopping.end('SIGTERM')).toBe(0);
  const { rows } = await client.query(
    'select attempts, due_at <= now() as due, leased_until from execution_queue where id = $1',
    [uuidOfId('exec', accepted.json.id)],
  );
  expect(rows).toEqual([{ attempts: 0, due: true, leased_until: null }]);
  const successor = await worker('successor');
  expect(await settled(accepted.json.id)).toMatchObject({ status: 'succeeded', attempts: 1 });
  await successor.end('SIGTERM');
});

test('three workers settle a thousand executions once each, even if one of them is killed midway', async () => {
  const total = 1_000;
  const short = { SIMPLANE_EXECUTION_LEASE: '1500ms', SIMPLANE_NETWORK_TIMEOUT: '1s' };
  const workers = await Promise.all(['one', 'two', 'three'].map((name) => worker(name, short)));
  const { rows: before } = await client.query('select count(*)::int as count from events');
  const ids: string[] = [];
  for (let i = 0; i < total / 50; i++) {
    const batch = await Promise.all(Array.from({ length: 50 }, () => provision({ url: api.url, key })));
    ids.push(...batch.map(({ json }) => json.id));
    if (i === 8) await workers[0]?.end('SIGKILL');
  }
  const counts = async () => {
    const { rows } = await client.query(
      `select status, count(*)::int as count from executions where id = any($1) group by status`,
      [ids.map((id) => uuidOfId('exec', id))],
    );
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  };
  expect(await until(counts, ({ succeeded, failed }) => (succeeded ?? 0) + (failed ?? 0) === total)).toEqual({
    succeeded: total,
  });

  const { rows: events } = await client.query(
    `select body::jsonb -> 'data' ->> 'execution_id' as id from events where type = 'esim.provisioned' order by id desc`,
  );
  const announced = events.map(({ id }) => id).filter((id) => ids.includes(id));
  expect(announced).toHaveLength(total);
  expect(new Set(announced).size).toBe(total);
  const { rows: after } = await client.query('select count(*)::int as count from events');
  expect(after[0].count - before[0].count).toBe(total);
  expect(network.idsOf('order').size).toBe(total);
  const { rows: esims } = await client.query(
    'select count(*)::int as count, count(distinct iccid)::int as iccids from esims where execution_id = any($1)',
    [ids.map((id) => uuidOfId('exec', id))],
  );
  expect(esims[0]).toEqual({ count: total, iccids: total });
  expect(new Set(network.calls.map(({ worker: name }) => name))).toEqual(new Set(['one', 'two', 'three']));
  await Promise.all(workers.slice(1).map((each) => each.end('SIGTERM')));
});
