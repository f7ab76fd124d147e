import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/accounts/api-key-text.ts';
import { storeKey } from '../../src/accounts/issue-key.ts';
import { addressPolicyOf } from '../../src/config/address-policy.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { createUuidV7 } from '../../src/platform/ids/uuid-v7.ts';
import { call } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { runCommand, spawnServer } from '../support/process.ts';
import { startService } from '../support/service.ts';

type Live = { url: string; key: string; testKey: string; iccid: string; stop(): Promise<void> };

const encryptionKey = randomBytes(32).toString('base64');
const liveEnv = { SIMPLANE_MODE: 'live', SIMPLANE_ENCRYPTION_KEYS: encryptionKey };

/** In this process, with the settings of a live deployment. */
async function startHere(): Promise<Live> {
  const { config } = readConfig(liveEnv);
  const service = await startService({
    mode: config.mode,
    addressPolicy: addressPolicyOf(config),
    core: config.coreUrl === null ? 'none' : 'commands',
  });
  const testKey = generateApiKey('sandbox');
  const iccid = await insertEsim(service.db, service.accountUuid);
  await storeKey(service.db, service.service, {
    key: testKey,
    accountUuid: service.accountUuid,
    name: 'From a sandbox',
    scopes: ['read', 'write', 'network', 'admin'],
    expiresAt: null,
  });
  return { url: service.url, key: service.key, testKey, iccid, stop: service.stop };
}

async function insertEsim(db: Database, accountUuid: string): Promise<string> {
  const iccid = '8999901000000000018';
  await db.query(
    {
      name: 'test_insert_esim',
      text: `insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, created_at)
             values ($1, gen_random_uuid(), $2, gen_random_uuid(), 'prod', 'active', '{}', now())`,
    },
    [accountUuid, iccid],
  );
  return iccid;
}

/** A separate process, set up with operator commands. */
async function startProcess(): Promise<Live> {
  const database = await cloneDatabase();
  const env = { DATABASE_URL: database.url, ...liveEnv };
  const server = await spawnServer(env);
  const run = async (...args: string[]) => JSON.parse((await runCommand([...args, '--json'], env)).stdout)[0];
  await run('accounts', 'create', '--name', 'Acme Travel');
  const { key } = await run('keys', 'create', '--scopes', 'read,write,network,admin');
  // No command creates a test key here; even one inserted directly must not work.
  const testKey = generateApiKey('sandbox');
  const db = openDatabase({ connectionString: database.url, poolSize: 1, onError: () => {} });
  const [account] = await db.query<{ id: string }>({ name: 'test_account', text: 'select id from accounts' });
  const clock = { nowMs: Date.now };
  await storeKey(
    db,
    { clock, newUuid: createUuidV7(clock) },
    {
      key: testKey,
      accountUuid: account?.id as string,
      name: 'From a sandbox',
      scopes: ['read', 'write', 'network', 'admin'],
      expiresAt: null,
    },
  );
  const iccid = await insertEsim(db, account?.id as string);
  await db.end();
  return {
    url: server.url,
    key,
    testKey,
    iccid,
    async stop() {
      expect(await server.end('SIGTERM')).toBe(0);
      await database.drop();
    },
  };
}

describe.each([
  ['in this process', startHere],
  ['as a separate process', startProcess],
])('live mode, %s,', (_, start) => {
  let live: Live;
  beforeAll(async () => {
    live = await start();
  });
  afterAll(() => live.stop());

  test('accepts a live key', async () => {
    const { status, json } = await call(live, 'GET', '/v1/me');
    expect([status, json.mode, json.livemode]).toEqual([200, 'live', true]);
  });

  test('refuses test keys, even one that its database holds', async () => {
    for (const key of [live.testKey, generateApiKey('sandbox'), 'sp_test_any']) {
      const reply = await call(live, 'GET', '/v1/me', { key });
      expect([reply.status, reply.json.error.code]).toEqual([401, 'api_key_wrong_mode']);
      expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  test('publishes no test event', async () => {
    const reply = await call(live, 'POST', '/v1/events/test', {
      body: { type: 'esim.provisioned', data: {} },
      idempotencyKey: 'test-event',
    });
    expect([reply.status, reply.json.error.code]).toEqual([403, 'sandbox_only']);
    expect((await call(live, 'GET', '/v1/events')).json.data).toEqual([]);
  });

  test.each(['download', 'attach', 'use_data', 'expire_bundle'])('simulates no %s', async (action) => {
    const extra = { attach: { country: 'FR' }, use_data: { bytes: 1 } }[action] ?? {};
    const reply = await call(live, 'POST', `/v1/sandbox/esims/${live.iccid}/simulate`, {
      body: { action, ...extra },
    });
    expect([reply.status, reply.json.error.code]).toEqual([403, 'sandbox_only']);
  });

  test.each([
    'http://example.com/hook',
    'http://93.184.215.14/hook',
    'https://127.0.0.1/hook',
    'https://localhost/hook',
    'https://10.1.2.3/hook',
    'https://172.16.0.1/hook',
    'https://192.168.1.1/hook',
    'https://100.64.0.1/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://0.0.0.0/hook',
    'https://2130706433/hook',
    'https://[::1]/hook',
    'https://[fd00::1]/hook',
    'https://[fe80::1]/hook',
    'https://[::ffff:10.0.0.1]/hook',
    'https://[64:ff9b::a00:1]/hook',
  ])('sends no webhooks to %s', async (url) => {
    const created = await call(live, 'POST', '/v1/webhook_endpoints', {
      body: { url, enabled_event_types: ['*'] },
    });
    expect([created.status, created.json.error?.code, created.json.error?.param]).toEqual([
      400,
      'url_not_allowed',
      'url',
    ]);
  });

  test.each(['suspend', 'resume'])('queues no %s without a connected core', async (change) => {
    const reply = await call(live, 'POST', `/v1/esims/${live.iccid}/${change}`);
    expect([reply.status, reply.json.error.code]).toEqual([409, 'core_not_connected']);
    expect((await call(live, 'GET', '/v1/executions')).json.data).toEqual([]);
  });

  test('accepts a public https URL, and keeps it when a change to http is refused', async () => {
    const url = 'https://93.184.215.14/hook';
    const { status, json } = await call(live, 'POST', '/v1/webhook_endpoints', {
      body: { url, enabled_event_types: ['esim.*'] },
    });
    expect([status, json.url]).toEqual([201, url]);
    const path = `/v1/webhook_endpoints/${json.id}`;
    const changed = await call(live, 'PATCH', path, { body: { url: 'http://93.184.215.14/hook' } });
    expect([changed.status, changed.json.error.code]).toEqual([400, 'url_not_allowed']);
    expect((await call(live, 'GET', path)).json.url).toBe(url);
  });

  test('refuses a subscription to an unknown event type', async () => {
    const { status, json } = await call(live, 'POST', '/v1/webhook_endpoints', {
      body: { url: 'https://93.184.215.14/hook', enabled_event_types: ['esim.provisionned'] },
    });
    expect([status, json.error.code, json.error.param]).toEqual([
      400,
      'parameter_invalid',
      'enabled_event_types[0]',
    ]);
  });
});
