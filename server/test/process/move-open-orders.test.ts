import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/platform/db/migrate.ts';
import { createEmptyDatabase } from '../support/database.ts';

const migrations = new URL('../../migrations/', import.meta.url);
const account = '00000000-0000-7000-8000-000000000001';

let database: { url: string; drop(): Promise<void> };
let folder: string;
let client: pg.Client;

beforeAll(async () => {
  database = await createEmptyDatabase();
  folder = await mkdtemp(join(tmpdir(), 'simplane-before-queues-'));
  for (const name of await readdir(migrations)) {
    if (name < '0009') await cp(new URL(name, migrations), join(folder, name));
  }
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await rm(folder, { recursive: true });
  await database.drop();
});

async function query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await client.query<Row>(text, values)).rows;
}

/** An order as stored by the previous release. The last digits of the id name the order. */
async function store(order: {
  n: number;
  status: string;
  progress?: object;
  attempts?: number;
  fence?: number;
  due?: string;
  esim?: string;
}): Promise<void> {
  const { n, status, progress = {}, attempts = 0, fence = 0, due = '-1 s', esim } = order;
  const id = `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
  const iccid = esim ? `899990100000000000${n}` : null;
  await query(
    `insert into executions (account_id, id, type, status, product_id, iccid, input, progress, attempts, fence, due_at, created_at)
     values ($1, $2, 'esim.provision', $3, 'prod', $4, '{"metadata": {"n": "${n}"}}', $5, $6, $7, now() + $8::interval, now())`,
    [account, id, status, iccid, progress, attempts, fence, due],
  );
  if (!esim) return;
  await query(
    `insert into esims (account_id, id, iccid, execution_id, product_id, status, profile_state, profile_observed_at, metadata, created_at)
     values ($1, gen_random_uuid(), $2, $3, 'prod', $4, 'downloaded', '2026-01-01T00:00:00Z', '{}', now())`,
    [account, iccid, id, esim],
  );
}

test('open orders move to the queue with their eSIMs; ended ones stay in the history', async () => {
  await migrate(database.url, { folder: pathToFileURL(`${folder}/`), lockTimeoutMs: 10_000 });
  await store({ n: 1, status: 'queued' });
  await store({ n: 2, status: 'running', attempts: 1, fence: 1, due: '1 hour', esim: 'provisioning' });
  const postponed = { failures: 1, postponed_fence: 2 };
  await store({ n: 3, status: 'running', attempts: 2, fence: 2, due: '1 hour', progress: postponed });
  await store({ n: 4, status: 'running', attempts: 1, fence: 1, esim: 'terminated' });
  await store({ n: 5, status: 'succeeded', attempts: 1, fence: 1, esim: 'provisioned' });
  await store({ n: 6, status: 'failed', attempts: 1, fence: 1, esim: 'failed' });
  // More than one batch.
  await query(
    `insert into executions (account_id, id, type, status, product_id, input, created_at)
     select $1, gen_random_uuid(), 'esim.provision', 'queued', 'bulk', '{}', now() from generate_series(1, 10001)`,
    [account],
  );

  await migrate(database.url, { lockTimeoutMs: 10_000 });

  const open = await query(
    `select right(id::text, 1) as n, attempts, fence, progress, observed, is_terminated, leased_until, due_at <= now() as due
     from execution_queue where product_id = 'prod' order by id`,
  );
  const waiting = { progress: {}, observed: null, is_terminated: false, leased_until: null, due: true };
  expect(open).toEqual([
    { ...waiting, n: '1', attempts: 0, fence: 0 },
    {
      ...{ ...waiting, n: '2', attempts: 1, fence: 1 },
      observed: { profile_state: 'downloaded', profile_observed_at: expect.stringMatching(/^2026-01-01T/) },
    },
    { ...waiting, n: '3', attempts: 2, fence: 2, progress: { failures: 1 }, due: false },
    {
      ...{ ...waiting, n: '4', attempts: 1, fence: 1, is_terminated: true },
      observed: { profile_state: 'downloaded', profile_observed_at: expect.stringMatching(/^2026-01-01T/) },
    },
  ]);
  expect(await query(`select from execution_queue where product_id = 'bulk'`)).toHaveLength(10_001);
  expect(await query('select right(id::text, 1) as n, status from executions order by id')).toEqual([
    { n: '5', status: 'succeeded' },
    { n: '6', status: 'failed' },
  ]);
  expect(await query('select status from esims order by iccid')).toEqual([
    { status: 'terminated' },
    { status: 'provisioned' },
    { status: 'failed' },
  ]);
});
