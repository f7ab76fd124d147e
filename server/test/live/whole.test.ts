import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFolder } from '../support/certificates.ts';
import { call, provision } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { type FakeSmdp, startFakeSmdp } from '../support/fake-smdp.ts';
import { spawnServer } from '../support/process.ts';
import { runInProcess } from '../support/run-in-process.ts';
import { createTls } from '../support/smdp-setup.ts';
import { until } from '../support/until.ts';

const tls = createTls();
const folder = createFolder();
let database: { url: string; drop(): Promise<void> };
let smdp: FakeSmdp;
let env: Record<string, string>;

beforeAll(async () => {
  database = await cloneDatabase();
  smdp = await startFakeSmdp({ tls: tls.server, padsIccids: true });
  env = {
    DATABASE_URL: database.url,
    SIMPLANE_MODE: 'live',
    SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
    SIMPLANE_ES2_URL: smdp.url,
    SIMPLANE_ES2_CERT: folder.write('es2.pem', tls.client.cert),
    SIMPLANE_ES2_KEY: folder.write('es2.key', tls.client.key),
    SIMPLANE_ES2_CA: folder.write('ca.pem', tls.authority.pem),
    SIMPLANE_ES2_REQUESTER_ID: 'acme',
    SIMPLANE_ES2_SMDP_ADDRESS: 'rsp.example.com',
  };
});
afterAll(async () => {
  await smdp.stop();
  await database.drop();
  folder.remove();
});

async function runJson(...args: string[]) {
  const { code, stdout, stderr } = await runInProcess([...args, '--json'], env);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

async function finished(target: { url: string; key: string }, body: object) {
  const { json } = await provision(target, undefined, body);
  const look = async () => (await call(target, 'GET', `/v1/executions/${json.id}`)).json;
  return until(look, ({ status }) => status === 'succeeded' || status === 'failed');
}

describe('a live deployment, from the command line to an eSIM', () => {
  let key: string;
  beforeAll(async () => {
    await runJson('accounts', 'create', '--name', 'Acme Travel');
    [{ key }] = await runJson('keys', 'create');
    const product = {
      id: 'acme-eu-5',
      name: 'Acme Europe 5 GB',
      countries: ['DE'],
      data_bytes: 5_000_000_000,
      validity_days: 30,
      price: { amount: 999, currency: 'eur' },
      speeds: ['4G'],
      profile_type: 'consumer-eu',
    };
    await runJson('catalog', 'import', folder.write('catalog.json', JSON.stringify([product])));
  });

  test('orders the catalog’s profile type, with ICCIDs of the SM-DP+', async () => {
    const server = await spawnServer(env);
    const target = { url: server.url, key };
    const eid = '89882119900000000000000000001654';
    const execution = await finished(target, { product_id: 'acme-eu-5', eid, confirmation_code: '4711' });
    expect(execution.status).toBe('succeeded');
    expect(smdp.reservedOf('consumer-eu')).toMatchObject([
      { iccid: execution.iccid, eid, state: 'Released' },
    ]);
    expect(smdp.calls.map(({ name, body }) => [name, body['confirmationCode']])).toEqual([
      ['downloadOrder', undefined],
      ['confirmOrder', '4711'],
    ]);
    const install = await call(target, 'GET', `/v1/esims/${execution.iccid}/install`);
    expect(install.json).toMatchObject({ smdp_address: 'rsp.example.com', confirmation_code_required: true });
    expect(install.json.lpa).toMatch(/^LPA:1\$rsp\.example\.com\$[-0-9A-Z]+\$\$1$/);
    const [{ key: operatorKey }] = await runJson('keys', 'create', '--scopes', 'operator');
    const networks = () => call(target, 'GET', '/v1/operator/networks', { key: operatorKey });
    const [network] = await until(
      async () => (await networks()).json.data,
      ([one]) => one?.reachable === true,
    );
    expect(network).toMatchObject({ kind: 'smdp', host: `127.0.0.1:${smdp.port}`, paused: false });
    expect(network.certificates.map(({ name }: { name: string }) => name)).toEqual([
      'SIMPLANE_ES2_CA',
      'SIMPLANE_ES2_CERT',
      'peer',
    ]);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  test('says in its metrics and its log that the network is paused, and that it works again', async () => {
    const server = await spawnServer({
      ...env,
      SIMPLANE_ICCID_RANGES: '8988304',
    });
    const target = { url: server.url, key };
    const paused = async () => /^simplane_network_paused (\d)$/m.exec(await server.metrics())?.[1];
    expect(await paused()).toBe('0');
    smdp.onCall(() => ({ status: 503, isDone: false }));
    // Five answers like this pause the network.
    const ordered = Promise.all(
      Array.from({ length: 5 }, () => finished(target, { product_id: 'acme-eu-5' })),
    );
    await until(paused, (value) => value === '1');
    smdp.onCall(() => undefined);
    expect((await ordered).map(({ status }) => status)).toEqual(Array(5).fill('succeeded'));
    expect(await paused()).toBe('0');
    expect(server.output()).toContain('the network is paused');
    expect(server.output()).toContain('the network answers again');
    expect(await server.end('SIGTERM')).toBe(0);
  });

  test('orders ICCIDs of the operator’s own range if one is set', async () => {
    const server = await spawnServer({ ...env, SIMPLANE_ICCID_RANGES: '8988303' });
    const execution = await finished({ url: server.url, key }, { product_id: 'acme-eu-5' });
    expect(execution).toMatchObject({ status: 'succeeded', iccid: expect.stringMatching(/^8988303/) });
    expect(smdp.profiles.get(execution.iccid)).toMatchObject({ state: 'Released', reservations: 1 });
    expect(await server.end('SIGTERM')).toBe(0);
  });
});
