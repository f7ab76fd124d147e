import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRenewableClient } from '../../src/network/es2plus/renewable-client.ts';
import { createAuthority, createFolder } from '../support/certificates.ts';
import { call, provision } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { type FakeSmdp, startFakeSmdp } from '../support/fake-smdp.ts';
import { runCommand, type ServerProcess, spawnServer } from '../support/process.ts';
import { createTls } from '../support/smdp-setup.ts';
import { until } from '../support/until.ts';

const day = 86_400_000;
const tls = createTls();
const stranger = createAuthority('Somebody else');
const longer = tls.authority.issue({
  name: 'simplane-2',
  hosts: ['127.0.0.1'],
  endsAt: new Date(Date.now() + 400 * day),
});

describe('an ES2+ client', () => {
  test('uses new certificates for new calls, while a call in progress finishes with the old ones', async () => {
    const smdp = await startFakeSmdp({ tls: tls.server });
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    smdp.onCall(({ callId }) => (callId === 'held' ? held.then(() => undefined) : undefined));
    const client = createRenewableClient({
      url: smdp.url,
      tls: tls.client,
      protocolVersion: '2.2.0',
      connectTimeoutMs: 5_000,
    });
    const post = (callId: string) => {
      const header = { functionRequesterIdentifier: 'x', functionCallIdentifier: callId };
      const body = JSON.stringify({ header, iccid: '8999909000000000009' });
      const signal = AbortSignal.timeout(30_000);
      return client.post('/gsma/rsp2/es2plus/releaseProfile', body, { signal, isFresh: false });
    };
    const inProgress = post('held');
    await until(
      async () => smdp.calls.length,
      (count) => count === 1,
    );
    client.renew({ ...stranger.issue({ name: 'stranger' }), ca: tls.authority.pem });
    expect(await post('refused')).toMatchObject({ kind: 'unanswered' });
    client.renew({ ...longer, ca: tls.authority.pem });
    expect(await post('accepted')).toMatchObject({ kind: 'answered', status: 200 });
    letGo();
    expect(await inProgress).toMatchObject({ kind: 'answered', status: 200 });
    expect(smdp.calls.map(({ callId }) => callId)).toEqual(['held', 'accepted']);
    await client.close();
    await smdp.stop();
  });
});

describe('a live server', () => {
  const folder = createFolder();
  const theirs = stranger.issue({ name: 'not-known-yet' });
  let database: { url: string; drop(): Promise<void> };
  let smdp: FakeSmdp;
  let env: Record<string, string>;
  let server: ServerProcess;
  let listenPort: number;
  beforeAll(async () => {
    database = await cloneDatabase();
    smdp = await startFakeSmdp({ tls: tls.server });
    env = {
      DATABASE_URL: database.url,
      SIMPLANE_MODE: 'live',
      SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
      SIMPLANE_EXECUTION_RETRY_SCHEDULE: Array.from({ length: 100 }, () => '500ms').join(','),
      // With its own ICCID an order can be repeated, whatever became of the first request.
      SIMPLANE_ICCID_RANGES: '8988303',
      SIMPLANE_ES2_URL: smdp.url,
      SIMPLANE_ES2_CERT: folder.write('es2.pem', theirs.cert),
      SIMPLANE_ES2_KEY: folder.write('es2.key', theirs.key),
      SIMPLANE_ES2_CA: folder.write('ca.pem', tls.authority.pem),
      SIMPLANE_ES2_REQUESTER_ID: 'acme',
      SIMPLANE_ES2_SMDP_ADDRESS: 'rsp.example.com',
      SIMPLANE_ES2_LISTEN_PORT: '0',
      SIMPLANE_ES2_LISTEN_CERT: folder.write('listen.pem', tls.server.cert),
      SIMPLANE_ES2_LISTEN_KEY: folder.write('listen.key', tls.server.key),
      SIMPLANE_ES2_LISTEN_CLIENT_CA: folder.write('client-ca.pem', tls.authority.pem),
    };
    server = await spawnServer(env);
    const found = await until(
      async () => /"port":(\d+),"msg":"listening for SM-DP\+ notifications"/.exec(server.output()),
      (match) => match !== null,
    );
    listenPort = Number(found?.[1]);
  });
  afterAll(async () => {
    expect(await server.end('SIGTERM')).toBe(0);
    await smdp.stop();
    await database.drop();
    folder.remove();
  });

  /** The end of the certificate that the listener presents. */
  function presented(): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({ ...tls.client, ca: tls.authority.pem, host: '127.0.0.1', port: listenPort });
      socket.on('error', reject);
      socket.on('secureConnect', () => {
        resolve(socket.getPeerCertificate().valid_to);
        socket.destroy();
      });
    });
  }

  async function daysLeft(setting: string): Promise<number> {
    const text = await server.metrics();
    const [, value] =
      new RegExp(`simplane_certificate_days_left\\{setting="${setting}"\\} (\\S+)`).exec(text) ?? [];
    return Number(value);
  }

  const endOf = (pem: string) => new X509Certificate(pem).validTo;
  const said = (text: string) =>
    until(
      async () => server.output().includes(text),
      (isSaid) => isSaid,
    );

  test('keeps the old certificate while key and certificate do not match, and takes the new pair on SIGHUP', async () => {
    expect(await daysLeft('SIMPLANE_ES2_LISTEN_CERT')).toBeCloseTo(90, 0);
    folder.write('listen.pem', longer.cert);
    process.kill(server.pid, 'SIGHUP');
    await said('the key does not belong to the certificate');
    expect(server.output()).toContain('certificates cannot be reloaded; the old ones stay in use');
    expect(await presented()).toBe(endOf(tls.server.cert));
    folder.write('listen.key', longer.key);
    process.kill(server.pid, 'SIGHUP');
    await said('certificates were reloaded');
    expect(await presented()).toBe(endOf(longer.cert));
    expect(await daysLeft('SIMPLANE_ES2_LISTEN_CERT')).toBeCloseTo(400, 0);
  });

  test('notices changed files without a signal', async () => {
    folder.write('listen.pem', tls.server.cert);
    folder.write('listen.key', tls.server.key);
    await until(presented, (end) => end === endOf(tls.server.cert), 60_000);
    expect(await daysLeft('SIMPLANE_ES2_LISTEN_CERT')).toBeCloseTo(90, 0);
  });

  test('continues orders with a client certificate that was replaced', async () => {
    const runJson = async (...args: string[]) =>
      JSON.parse((await runCommand([...args, '--json'], env)).stdout);
    await runJson('accounts', 'create', '--name', 'Acme Travel');
    const [{ key }] = await runJson('keys', 'create');
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
    const target = { url: server.url, key };
    const { json } = await provision(target, undefined, { product_id: 'acme-eu-5' });
    await said('the SM-DP+ did not carry out a request');
    expect(smdp.calls).toEqual([]);
    folder.write('es2.pem', tls.client.cert);
    folder.write('es2.key', tls.client.key);
    process.kill(server.pid, 'SIGHUP');
    const look = async () => (await call(target, 'GET', `/v1/executions/${json.id}`)).json;
    await until(look, ({ status }) => status === 'succeeded', 60_000);
  });
});

test('of several processes, each reloads on a SIGHUP to the one that started them', async () => {
  const folder = createFolder();
  const database = await cloneDatabase();
  const server = await spawnServer({
    DATABASE_URL: database.url,
    SIMPLANE_MODE: 'live',
    SIMPLANE_PROCESSES: '2',
    SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
    SIMPLANE_ES2_URL: 'https://127.0.0.1:9',
    SIMPLANE_ES2_CERT: folder.write('es2.pem', tls.client.cert),
    SIMPLANE_ES2_KEY: folder.write('es2.key', tls.client.key),
    SIMPLANE_ES2_CA: folder.write('ca.pem', tls.authority.pem),
    SIMPLANE_ES2_REQUESTER_ID: 'acme',
    SIMPLANE_ES2_SMDP_ADDRESS: 'rsp.example.com',
  });
  const refusals = (least: number) =>
    until(
      async () => server.output().split('certificates cannot be reloaded').length - 1,
      (count) => count >= least,
    );
  try {
    // Once both can be scraped, both wait for the signal.
    await until(
      async () => (await server.metrics().catch(() => '')).match(/^process_uptime_seconds\{/gm)?.length,
      (count) => count === 2,
    );
    folder.write('es2.pem', tls.server.cert);
    // Without a signal each tells of a wrong pair once only; after each signal, once more.
    for (const least of [2, 4]) {
      process.kill(server.pid, 'SIGHUP');
      await refusals(least);
    }
    expect(await server.end('SIGTERM')).toBe(0);
  } finally {
    await server.end('SIGKILL');
    await database.drop();
    folder.remove();
  }
});
