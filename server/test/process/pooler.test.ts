import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.ts';
import { call, provision } from '../support/client.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { runCommand, type ServerProcess, spawnServer } from '../support/process.ts';
import { startTransactionPooler, type TransactionPooler } from '../support/transaction-pooler.ts';
import { until } from '../support/until.ts';

const key = 'sp_test_behind_a_transaction_pooler';

let database: { url: string; drop(): Promise<void> };
let pooler: TransactionPooler;

beforeAll(async () => {
  database = await createEmptyDatabase();
  pooler = await startTransactionPooler({ url: database.url });
});
afterAll(async () => {
  await pooler.stop();
  await database.drop();
});

async function query<Row extends object>(text: string, url = database.url): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Orders on one process and waits until every order has succeeded. */
async function orderAndWait({ url }: ServerProcess, count: number): Promise<void> {
  const orders = await Promise.all(
    Array.from({ length: count }, () => provision({ url, key }, randomUUID())),
  );
  expect(orders.map(({ status }) => status)).toEqual(Array(count).fill(202));
  for (const { json } of orders) {
    await until(
      async () => (await call({ url, key }, 'GET', `/v1/executions/${json.id}`)).json.status,
      (status) => status === 'succeeded',
    );
  }
}

describe('behind a pooler in transaction mode', () => {
  let servers: ServerProcess[] = [];

  beforeAll(async () => {
    const env = {
      DATABASE_URL: pooler.url,
      SIMPLANE_API_KEY: key,
      SIMPLANE_MOCK_DELAY: '20ms',
      SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 7).toString('base64'),
    };
    const polling = await spawnServer(env);
    const listening = await spawnServer({ ...env, SIMPLANE_DATABASE_DIRECT_URL: database.url });
    servers = [polling, listening];
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.end('SIGTERM')));
  });

  test('two processes migrate, accept orders and execute them while their server connections change', async () => {
    await Promise.all(servers.map((server) => orderAndWait(server, 40)));
    expect(pooler.switches()).toBeGreaterThan(100);
    for (const server of servers) expect(server.output()).not.toContain('background work failed');
  });

  test('statements run with the same settings as without a pooler, set on the role', async () => {
    const settings = `select current_setting('enable_seqscan') as enable_seqscan, current_setting('jit') as jit,
      current_setting('statement_timeout') as statement_timeout,
      current_setting('idle_in_transaction_session_timeout') as idle`;
    const expected = [{ enable_seqscan: 'off', jit: 'off', statement_timeout: '10s', idle: '15s' }];
    expect(await query(settings)).toEqual(expected);
    const other = await createEmptyDatabase(); // where the role has no settings
    const direct = openDatabase({ connectionString: other.url, poolSize: 1, onError: () => {} });
    expect((await direct.pool.query(settings)).rows).toEqual(expected);
    await direct.end();
    await other.drop();
  });

  test('a process without a direct address logs that it polls; one with it listens there', async () => {
    const [polling, listening] = servers;
    expect(polling?.output()).toContain('SIMPLANE_DATABASE_DIRECT_URL is not set');
    expect(listening?.output()).not.toContain('SIMPLANE_DATABASE_DIRECT_URL is not set');
    const names = await until(
      () =>
        query<{ name: string }>(
          `select application_name as name from pg_stat_activity
           where datname = current_database() and application_name like 'simplane%'`,
        ),
      (rows) => rows.length > 0,
    );
    expect(names.map(({ name }) => name)).toEqual([expect.stringMatching(/^simplane\/\d+ signals$/)]);
  });

  test('doctor reports the pooler and where the process listens for work', async () => {
    const env = { DATABASE_URL: pooler.url, SIMPLANE_DATABASE_DIRECT_URL: database.url };
    const { stdout } = await runCommand(['doctor', '--json'], env);
    const findings = JSON.parse(stdout) as { check: string; verdict: string; says: string }[];
    const found = (check: string) => findings.filter((finding) => finding.check === check);
    expect(found('pooler')).toEqual([expect.objectContaining({ verdict: 'ok' })]);
    expect(found('signals')).toEqual([
      { check: 'signals', verdict: 'ok', says: expect.stringContaining('SIMPLANE_DATABASE_DIRECT_URL') },
    ]);
  });
});

test('doctor reports a direct address that leads to another database', async () => {
  const other = await createEmptyDatabase();
  const env = { DATABASE_URL: pooler.url, SIMPLANE_DATABASE_DIRECT_URL: other.url };
  const { stdout } = await runCommand(['doctor', '--json'], env);
  const findings = JSON.parse(stdout) as { check: string; verdict: string; says: string }[];
  expect(findings.filter(({ check }) => check === 'signals')).toEqual([
    {
      check: 'signals',
      verdict: 'problem',
      says: expect.stringContaining('not the database of DATABASE_URL'),
    },
  ]);
  await other.drop();
});

test('a pooler without prepared statements is refused with the version that supports them', async () => {
  const older = await startTransactionPooler({ url: database.url, supportsPreparedStatements: false });
  try {
    const { code, stderr } = await runCommand(['migrate'], { DATABASE_URL: older.url });
    expect(stderr).toContain('use PgBouncer 1.21 or newer with max_prepared_statements');
    expect(code).toBe(1);
  } finally {
    await older.stop();
  }
});
