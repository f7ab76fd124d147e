import { createHmac, randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { migrate } from '../../src/platform/db/migrate.ts';
import { keyIdOf } from '../../src/platform/secrets/keyring.ts';
import { call, provision } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { sealUnbound } from '../support/old-form.ts';
import { runCommand, spawnServer } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { runInProcess } from '../support/run-in-process.ts';
import { until } from '../support/until.ts';

const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const key = 'sp_test_retires_a_key_of_its_deployment';
const endpointRequest = { idempotencyKey: 'the-endpoint', body: { url: '', enabled_event_types: ['*'] } };

let database: Awaited<ReturnType<typeof cloneDatabase>>;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  endpointRequest.body.url = receiver.url;
});
afterAll(() => receiver.stop());
beforeEach(async () => {
  database = await cloneDatabase();
});
afterEach(() => database.drop());

function settings(...keys: Buffer[]): Record<string, string> {
  return {
    DATABASE_URL: database.url,
    SIMPLANE_API_KEY: key,
    SIMPLANE_MOCK_DELAY: '0s',
    SIMPLANE_ENCRYPTION_KEYS: keys.map((one) => one.toString('base64')).join(','),
  };
}

async function query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

async function doctorOnSecrets(...keys: Buffer[]) {
  const { stdout } = await runInProcess(['doctor', '--json'], settings(...keys));
  return JSON.parse(stdout).find(({ check }: { check: string }) => check === 'secrets');
}

function verifies(secret: string, { headers, body }: Receiver['received'][number]): boolean {
  const [, at = '', given = ''] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(headers['service-signature'])) ?? [];
  return createHmac('sha256', secret).update(`${at}.${body}`).digest('hex') === given;
}

describe('an encryption key', () => {
  test('is retired without downtime: put a new one first, reseal, remove the old one', async () => {
    const before = await spawnServer(settings(first));
    let target = { url: before.url, key };
    const endpoint = await call(target, 'POST', '/v1/webhook_endpoints', endpointRequest);
    const { json: order } = await provision(target);
    const { iccid } = await until(
      async () => (await call(target, 'GET', `/v1/executions/${order.id}`)).json,
      ({ status }) => status === 'succeeded',
    );
    const profile = await call(target, 'GET', `/v1/esims/${iccid}/install`);
    expect(await before.end('SIGTERM')).toBe(0);

    const during = await spawnServer(settings(second, first));
    expect(await doctorOnSecrets(second, first)).toMatchObject({
      verdict: 'warning',
      says: expect.stringContaining('reseal'),
    });
    const { code, stdout, stderr } = await runCommand(['reseal', '--json'], settings(second, first));
    expect([code, stderr]).toEqual([0, expect.stringContaining('the other keys may be removed')]);
    expect(JSON.parse(stdout)).toMatchObject({
      key_id: keyIdOf(second),
      complete: true,
      sealed_anew: { signing_secrets: 1, stored_answers: 1, matching_ids_of_esims: 1 },
      unreadable_count: 0,
    });
    expect(await doctorOnSecrets(second, first)).toMatchObject({
      verdict: 'ok',
      says: expect.stringContaining(`${keyIdOf(first)} may be removed`),
    });
    expect(await during.end('SIGTERM')).toBe(0);

    const after = await spawnServer(settings(second));
    target = { url: after.url, key };
    const replay = await call(target, 'POST', '/v1/webhook_endpoints', endpointRequest);
    expect([replay.status, replay.text]).toEqual([201, endpoint.text]);
    const profileAfter = await call(target, 'GET', `/v1/esims/${iccid}/install`);
    expect([profileAfter.status, profileAfter.json]).toEqual([200, profile.json]);
    receiver.received.length = 0;
    await call(target, 'POST', '/v1/events/test', { body: { type: 'esim.provisioned', data: {} } });
    const [delivery] = await until(
      async () => receiver.received,
      ({ length }) => length > 0,
    );
    expect(delivery && verifies(endpoint.json.secret, delivery)).toBe(true);
    expect(await after.end('SIGTERM')).toBe(0);
  });

  test('removed too early is named together with the rows it sealed, without revealing secrets', async () => {
    const server = await spawnServer(settings(first));
    const endpoint = await call({ url: server.url, key }, 'POST', '/v1/webhook_endpoints', endpointRequest);
    expect(await server.end('SIGTERM')).toBe(0);
    const { code, stdout, stderr } = await runInProcess(['reseal'], settings(third));
    expect(code).toBe(1);
    const [secret] = await query<{ id: string }>('select id from webhook_secrets');
    for (const part of [`webhook_secrets ${secret?.id}`, 'idempotency_keys the-endpoint', keyIdOf(first)]) {
      expect(stderr).toContain(part);
    }
    expect(stdout + stderr).not.toContain(endpoint.json.secret);
    expect(stdout + stderr).not.toContain('whsec_');
  });
});

describe('a process without a key that stored secrets need', () => {
  const readiness = async ({ url }: { url: string }) => {
    const { status, json } = await call({ url, key: '' }, 'GET', '/readyz', { key: null });
    return { status, message: json.error?.message };
  };

  test('is not ready, runs no orders and stores no secrets, and doctor names the key', async () => {
    const before = await spawnServer(settings(first));
    expect(await readiness(before)).toMatchObject({ status: 200 });
    expect(await before.end('SIGTERM')).toBe(0);
    const wrong = await spawnServer(settings(third));
    expect(await readiness(wrong)).toEqual({
      status: 503,
      message: expect.stringMatching(/does not have\. Its log names them and says what to do\.$/),
    });
    expect(wrong.output()).toContain(`stored secrets need encryption key ${keyIdOf(first)}`);
    const refused = await call({ url: wrong.url, key }, 'POST', '/v1/webhook_endpoints', endpointRequest);
    expect([refused.status, refused.json.error.code]).toEqual([503, 'unavailable']);
    expect(await query('select from webhook_endpoints')).toEqual([]);
    const target = { url: wrong.url, key };
    const coded = await provision(target, undefined, {
      product_id: 'prod_europe_5gb_30d',
      confirmation_code: '4711',
    });
    expect([coded.status, coded.json.error.code]).toEqual([503, 'unavailable']);
    await provision(target);
    expect(await doctorOnSecrets(third)).toMatchObject({
      verdict: 'problem',
      says: expect.stringContaining(`--lost-key ${keyIdOf(first)}`),
    });
    const right = await spawnServer(settings(first));
    expect(await readiness(right)).toMatchObject({ status: 200 });
    const [esim] = await until(
      () => query<{ matching_id: string }>('select matching_id from esims'),
      ({ length }) => length > 0,
    );
    expect(esim?.matching_id).toMatch(new RegExp(`^v2\\.${keyIdOf(first)}\\.`));
    // The process with the wrong key never claimed it.
    expect(await query('select attempts from executions')).toEqual([{ attempts: 1 }]);
    expect(await Promise.all([wrong.end('SIGTERM'), right.end('SIGTERM')])).toEqual([0, 0]);
  });

  test('is ready again once the operator gives the key up, and what it sealed stays listed', async () => {
    const before = await spawnServer(settings(first));
    await call({ url: before.url, key }, 'POST', '/v1/webhook_endpoints', endpointRequest);
    expect(await before.end('SIGTERM')).toBe(0);
    const lose = (id: string, ...keys: Buffer[]) =>
      runInProcess(['reseal', '--lost-key', id], settings(...keys));
    expect(await lose(keyIdOf(first), first)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('this key is configured'),
    });
    expect(await lose('00000000', third)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no stored secret needs such a key'),
    });
    const { stderr } = await lose(keyIdOf(first), third);
    expect(stderr).toContain(`key ${keyIdOf(first)} is no longer expected`);
    expect(stderr).toContain('2 secrets cannot be decrypted');
    // The refused commands left none.
    expect(await query(`select changes from audit_log where action = 'secrets.reseal_started'`)).toEqual([
      { changes: { key_id: keyIdOf(third), lost_key_id: keyIdOf(first) } },
    ]);
    const after = await spawnServer(settings(third));
    expect(await readiness(after)).toMatchObject({ status: 200 });
    expect(await doctorOnSecrets(third)).toMatchObject({
      verdict: 'problem',
      says: expect.stringMatching(/^2 of 2 stored secrets that were tried cannot be decrypted/),
    });
    expect(await after.end('SIGTERM')).toBe(0);
  });

  test('is not ready even if both start at once on an empty database', async () => {
    const both = await Promise.all([spawnServer(settings(first)), spawnServer(settings(third))]);
    const statuses = await Promise.all(both.map(async (each) => (await readiness(each)).status));
    expect(statuses.sort()).toEqual([200, 503]);
    await Promise.all(both.map((each) => each.end('SIGTERM')));
  });
});

describe('a database from the previous release', () => {
  const account = '0190a000-0000-7000-8000-000000000001';
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const matchingId = 'K7QM4-T2X9H-VD000-00001';

  /** The schema before migration 8, with rows in the old form. */
  async function seed(): Promise<void> {
    await query('drop table sealing');
    await query('delete from schema_migrations where version = 8');
    await query(
      `insert into accounts (id, name, api_version, created_at) values ($1, 'Old', '2026-11-01', now())`,
      [account],
    );
    for (const scopes of [
      ['read'],
      ['read', 'network'],
      ['read', 'write'],
      ['write'],
      ['network', 'admin'],
    ]) {
      await query(
        `insert into api_keys (id, account_id, hash, name, scopes, last4, created_at)
         values (gen_random_uuid(), $1, sha256(convert_to($2::text, 'UTF8')), $2::text, $3, 'last', now())`,
        [account, scopes.join('+'), scopes],
      );
    }
    await query(
      `insert into webhook_endpoints (account_id, id, url, enabled_event_types, metadata, status, api_version, created_at)
       values ($1, gen_random_uuid(), $2, '{*}', '{}', 'enabled', '2026-11-01', now())`,
      [account, receiver.url],
    );
    await query(
      `insert into webhook_secrets (account_id, endpoint_id, id, sealed, created_at)
       select account_id, id, gen_random_uuid(), $1, now() from webhook_endpoints`,
      [sealUnbound(first, secret)],
    );
    await query(
      `insert into executions (account_id, id, type, status, product_id, iccid, input, progress, created_at, finished_at)
       values ($1, gen_random_uuid(), 'esim.provision', 'succeeded', 'prod_europe_5gb_30d', '8999901000000000018', '{}',
               jsonb_build_object('matching_id', $2::text), now(), now())`,
      [account, matchingId],
    );
    await query(
      `insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, smdp_address, matching_id, created_at)
       select account_id, gen_random_uuid(), iccid, id, product_id, 'provisioned', '{}', 'smdp.example.com', $1, now()
       from executions`,
      [matchingId],
    );
  }

  test('keeps working, and reseal leaves nothing in the old form', async () => {
    await seed();
    const server = await spawnServer(settings(first));
    const target = { url: server.url, key };
    const install = async () =>
      (await call(target, 'GET', '/v1/esims/8999901000000000018/install')).json.matching_id;
    expect(await install()).toBe(matchingId);
    expect(await doctorOnSecrets(first)).toMatchObject({ verdict: 'warning' });
    const { code } = await runInProcess(['reseal'], settings(first));
    expect(code).toBe(0);
    expect(await doctorOnSecrets(first)).toMatchObject({ verdict: 'ok' });
    const stored = JSON.stringify([
      await query('select sealed from webhook_secrets'),
      await query('select matching_id from esims'),
      await query('select progress from executions'),
    ]);
    expect(stored).not.toContain(matchingId);
    expect(stored.match(new RegExp(`v2\\.${keyIdOf(first)}\\.`, 'g'))).toHaveLength(2);
    expect(await install()).toBe(matchingId);
    receiver.received.length = 0;
    await call(target, 'POST', '/v1/events/test', { body: { type: 'esim.provisioned', data: {} } });
    const [delivery] = await until(
      async () => receiver.received,
      ({ length }) => length > 0,
    );
    expect(delivery && verifies(secret, delivery)).toBe(true);
    // The running process refuses the old form after reseal.
    await query('update esims set matching_id = $1', [matchingId]);
    expect(await install()).toBeUndefined();
    expect(await server.end('SIGTERM')).toBe(0);
  });

  test('gives the install scope only to keys that could already read activation codes', async () => {
    await seed();
    expect(await migrate(database.url)).toMatchObject({ applied: [expect.stringMatching(/^0008_/)] });
    const rows = await query<{ name: string; scopes: string[] }>('select name, scopes from api_keys');
    expect(Object.fromEntries(rows.map(({ name, scopes }) => [name, scopes]))).toEqual({
      read: ['read', 'install'],
      'read+network': ['read', 'network', 'install'],
      'read+write': ['read', 'write', 'install'],
      write: ['write'],
      'network+admin': ['network', 'admin'],
    });
    const env = { ...settings(first), SIMPLANE_API_KEY: '' };
    const made = await runInProcess(['keys', 'create', '--scopes', 'read', '--json'], env);
    expect(JSON.parse(made.stdout)).toMatchObject([{ scopes: 'read' }]);
  });

  test('without rows refuses the old form from the start', async () => {
    expect(await query('select old_form_refused_at is not null as refused from sealing')).toEqual([
      { refused: true },
    ]);
  });
});
