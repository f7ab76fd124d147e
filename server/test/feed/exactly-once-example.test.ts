import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/client.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const example = new URL('../../../examples/exactly-once/', import.meta.url);
const killCount = 6;

let service: TestService;
let billing: Awaited<ReturnType<typeof createEmptyDatabase>>;
let db: pg.Pool;
const consumers = new Set<ChildProcess>();

beforeAll(async () => {
  service = await startService();
  service.startSequencer();
  billing = await createEmptyDatabase();
  db = new pg.Pool({ connectionString: billing.url, max: 2 });
  await db.query(await readFile(new URL('schema.sql', example), 'utf8'));
});
afterAll(async () => {
  for (const consumer of consumers) await kill(consumer);
  await db.end();
  await billing.drop();
  await service.stop();
});

test('two consumers that are killed at random charge every event exactly once, in the order of the feed', async () => {
  let isDone = false;
  const published = Promise.all(Array.from({ length: 2 }, () => publishUntil(() => isDone)));
  let oldest = startConsumer();
  let charged = 0;
  for (let kills = 0; kills < killCount; kills++) {
    const younger = startConsumer();
    const enough = charged + 1 + Math.floor(Math.random() * 60);
    charged = await until(chargeCount, (count) => count >= enough, 60_000);
    await kill(oldest);
    oldest = younger;
  }
  isDone = true;
  const ids = (await published).flat();
  await until(chargeCount, (count) => count >= ids.length, 60_000);
  await kill(oldest);
  const { rows } = await db.query<{ event_id: string }>('select event_id from charges order by id');
  const chargedIds = rows.map(({ event_id }) => event_id);
  expect(chargedIds).toEqual(await feedIds());
  expect(chargedIds.toSorted()).toEqual(ids.toSorted());
});

async function publishUntil(isDone: () => boolean): Promise<string[]> {
  const ids: string[] = [];
  const body = { type: 'esim.provisioned', data: { iccid: '8999901000000000018', product_id: 'prod_1' } };
  // Test events with any data are in the feed too, and stop nobody.
  const odd = { type: 'esim.provisioned', data: { iccid: '8999901000000000018' } };
  await call(service, 'POST', '/v1/events/test', { body: odd });
  while (!isDone()) ids.push((await call(service, 'POST', '/v1/events/test', { body })).json.id);
  return ids;
}

function startConsumer(): ChildProcess {
  const consumer = spawn(process.execPath, [fileURLToPath(new URL('consumer.mjs', example))], {
    stdio: 'inherit',
    env: {
      SIMPLANE_API_KEY: service.key,
      SIMPLANE_BASE_URL: service.url,
      BILLING_DATABASE_URL: billing.url,
    },
  });
  consumers.add(consumer);
  return consumer;
}

/** Fails if it has ended by itself. */
async function kill(consumer: ChildProcess): Promise<void> {
  consumers.delete(consumer);
  expect([consumer.exitCode, consumer.signalCode]).toEqual([null, null]);
  consumer.kill('SIGKILL');
  await once(consumer, 'exit');
}

async function chargeCount(): Promise<number> {
  const { rows } = await db.query<{ count: string }>('select count(*) from charges');
  return Number(rows[0]?.count);
}

async function feedIds(): Promise<string[]> {
  const ids: string[] = [];
  for (let after = 'start'; ; ) {
    const { json } = await call(service, 'GET', `/v1/events/feed?limit=1000&after=${after}`);
    const chargeable = json.data.filter(({ data }: { data: object }) => 'product_id' in data);
    ids.push(...chargeable.map(({ id }: { id: string }) => id));
    if (json.caught_up) return ids;
    after = json.cursor;
  }
}
