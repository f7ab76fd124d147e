import { afterAll, beforeAll, expect, test } from 'vitest';
import { scratchFile } from '../../src/platform/db/full-disk.ts';
import { call, provision } from '../support/client.ts';
import { exchange, head } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const readiness = () => call(service, 'GET', '/readyz', { key: null });

test('whoever asks for readiness without pause costs a statement a second, and others are served', async () => {
  const startedMs = performance.now();
  let taken = 0;
  const count = () => {
    taken += 1;
  };
  service.db.pool.on('acquire', count);
  for (let round = 0; round < 10; round++) {
    const replies = await Promise.all(Array.from({ length: 50 }, readiness));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  }
  service.db.pool.off('acquire', count);
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThanOrEqual(1 + (performance.now() - startedMs) / 1_000);

  const asking = Array.from({ length: 200 }, readiness);
  for (let n = 0; n < 10; n++) expect((await provision(service)).status).toBe(202);
  await Promise.all(asking);
});

test('a process that shuts down, or lacks an encryption key, is not ready', async () => {
  for (const state of [{ isStopping: () => true }, { missingKeys: ['k1'] }]) {
    const other = await startService({ databaseUrl: service.databaseUrl, ...state });
    const { json, headers } = await call(other, 'GET', '/readyz');
    expect(json.error.code).toBe('unavailable');
    expect(headers.get('retry-after')).toBe('isStopping' in state ? '1' : null); // a missing key does not come by itself
    await other.stop();
  }
});

test('answers of a process that shuts down close their connections, which would hold it up', async () => {
  const other = await startService({ databaseUrl: service.databaseUrl, isStopping: () => true });
  for (const path of ['/livez', '/v1/me']) {
    const { headers } = await exchange(other.url, head('GET', path));
    expect([path, headers.get('connection')]).toEqual([path, 'close']);
  }
  await other.stop();
  const { headers } = await exchange(service.url, head('GET', '/livez'));
  expect(headers.get('connection')).not.toBe('close');
});

test('all that is impaired is said, and the process stays ready', async () => {
  const other = await startService({
    databaseUrl: service.databaseUrl,
    writeTrouble: () => 'the test says so',
    clockTrouble: () => 'It is late.',
  });
  const { status, json } = await call(other, 'GET', '/readyz');
  expect([status, json]).toEqual([
    200,
    {
      status: 'impaired',
      impaired: [
        { what: 'writes', message: 'Writes fail, because the test says so. Reads go on.' },
        { what: 'clock', message: 'It is late.' },
      ],
    },
  ]);
  await other.stop();
});

test('the scratch file is written to PostgreSQL’s disk, however much memory its statements may use', async () => {
  const client = await service.db.pool.connect();
  await client.query(`set work_mem = '64MB'`);
  await client.query(scratchFile.begin);
  const { rows } = await client.query(
    `explain (analyze, buffers, format json) ${scratchFile.statement.text}`,
  );
  await client.query('rollback');
  client.release(true);
  const { 'Temp Written Blocks': blocks } = rows[0]['QUERY PLAN'][0].Plan;
  expect(blocks * 8_192).toBeGreaterThan(500_000);
});
