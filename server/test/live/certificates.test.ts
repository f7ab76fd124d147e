import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import { readAuthorities, readIdentity } from '../../src/network/es2plus/certificates.ts';
import { createEs2Client } from '../../src/network/es2plus/client.ts';
import { createAuthority, createFolder } from '../support/certificates.ts';
import { call, provision } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { type FakeSmdp, type Mischief, startFakeSmdp } from '../support/fake-smdp.ts';
import { runCommand, spawnServer } from '../support/process.ts';
import { runInProcess } from '../support/run-in-process.ts';
import { startService } from '../support/service.ts';
import { createTls, startSmdpSetup } from '../support/smdp-setup.ts';
import { until } from '../support/until.ts';

const day = 86_400_000;
const past = { startsAt: new Date(Date.now() - 9 * day), endsAt: new Date(Date.now() - 2 * day) };
const future = { startsAt: new Date(Date.now() + 2 * day), endsAt: new Date(Date.now() + 9 * day) };

const tls = createTls();
const folder = createFolder();
const stranger = createAuthority('Somebody else');
const oldAuthority = createAuthority('Old', past);
const files = {
  cert: folder.write('client.pem', tls.client.cert),
  key: folder.write('client.key', tls.client.key),
  ca: folder.write('ca.pem', tls.authority.pem),
  text: folder.write('readme.pem', 'not a certificate'),
  damaged: folder.write('damaged.pem', tls.client.cert.replace(/\nM/, '\nA')),
  half: folder.write('half.pem', tls.client.cert + tls.authority.pem.slice(0, 200)),
  expired: folder.write('expired.pem', tls.authority.issue({ name: 'simplane', ...past }).cert),
  early: folder.write('early.pem', tls.authority.issue({ name: 'simplane', ...future }).cert),
  otherKey: folder.write('other.key', stranger.issue({ name: 'other' }).key),
  locked: folder.write(
    'locked.key',
    '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----',
  ),
  expiredCa: folder.write('expired-ca.pem', oldAuthority.pem),
  strangersCert: folder.write('stranger.pem', 'filled below'),
  strangersKey: folder.write('stranger.key', 'filled below'),
  strangersCa: folder.write('stranger-ca.pem', stranger.pem),
};
const theirs = stranger.issue({ name: 'simplane' });
folder.write('stranger.pem', theirs.cert);
folder.write('stranger.key', theirs.key);
afterAll(() => folder.remove());

const named = (setting: string, path: string) => ({ setting, path });
const missing = '/nowhere/client.pem';

/** Its RSA key has 512 bits. */
const weakAuthority = `-----BEGIN CERTIFICATE-----
MIIBdzCCASGgAwIBAgIUVblDIWrAU82Tvo3CImZmp5/UnNkwDQYJKoZIhvcNAQEL
BQAwDzENMAsGA1UEAwwEd2VhazAgFw0yNjExMTkyMzI1MjNaGA8yMTI2MTAyNjIz
MjUyM1owDzENMAsGA1UEAwwEd2VhazBcMA0GCSqGSIb3DQEBAQUAA0sAMEgCQQDw
uBGEqJQYFtJQkxUmjqO8/cbtwDQ/SoYMQcQcd0AqkrwG9h64gBJ5HHmFgKF+pyPH
5RNHcio3u0UtqXxmMG+PAgMBAAGjUzBRMB0GA1UdDgQWBBQRDGx3YaHoo9XaGo9f
aMUY1khitjAfBgNVHSMEGDAWgBQRDGx3YaHoo9XaGo9faMUY1khitjAPBgNVHRMB
Af8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA0EAchLQuqBGRFC8//oQdWbbGcB1LR0j
hKf+Z1f2IZI+LQGOjDOodHKcoj1M4GcUcX0ON2FOU+hPZKhCkp5fqoTWhA==
-----END CERTIFICATE-----
`;

describe('a file for mutual TLS', () => {
  const key = files.key;
  test.each([
    ['that is missing', missing, key, `CERT: ${missing}: cannot be read: ENOENT`],
    ['whose key is missing', files.cert, missing, `KEY: ${missing}: cannot be read: ENOENT`],
    ['without a certificate', files.text, key, `CERT: ${files.text}: contains no PEM certificate`],
    ['that is damaged', files.damaged, key, `CERT: ${files.damaged}: the certificate cannot be parsed`],
    ['that is half written', files.half, key, `CERT: ${files.half}: ends within a certificate`],
    ['that is expired', files.expired, key, `CERT: ${files.expired}: the certificate expired on`],
    ['that is not valid yet', files.early, key, `CERT: ${files.early}: the certificate is not valid before`],
    [
      'with the key of another certificate',
      files.cert,
      files.otherKey,
      `KEY: ${files.otherKey}: the key does not belong to`,
    ],
    ['whose key is encrypted', files.cert, files.locked, `KEY: ${files.locked}: the key has a passphrase`],
    ['whose key is not a key', files.cert, files.text, `KEY: ${files.text}: contains no PEM private key`],
  ])('%s is rejected with its setting and its path', async (_, cert, keyPath, message) => {
    await expect(readIdentity(named('CERT', cert), named('KEY', keyPath))).rejects.toThrow(message);
  });

  test('is valid from its first second until its last', async () => {
    const [startsAt, endsAt] = [new Date('2030-01-01'), new Date('2030-02-01')];
    const { cert, key: own } = tls.authority.issue({ name: 'simplane', startsAt, endsAt });
    const certFile = named('CERT', folder.write('bounded.pem', cert));
    const keyFile = named('KEY', folder.write('bounded.key', own));
    const readAt = (ms: number) => readIdentity(certFile, keyFile, new Date(ms));
    await expect(readAt(startsAt.getTime() - 1)).rejects.toThrow('not valid before 2030-01-01');
    expect(await readAt(startsAt.getTime())).toMatchObject({ endsAt });
    expect(await readAt(endsAt.getTime() - 1)).toMatchObject({ endsAt });
    await expect(readAt(endsAt.getTime())).rejects.toThrow('expired on 2030-02-01');
    const { pem } = createAuthority('Bounded', { startsAt, endsAt });
    const caFile = named('CA', folder.write('bounded-ca.pem', pem));
    expect(await readAuthorities(caFile, new Date(endsAt.getTime() - 1))).toEqual({ pem, endsAt });
    await expect(readAuthorities(caFile, endsAt)).rejects.toThrow('expired on 2030-02-01');
  });

  test('with a certificate in its chain that TLS would not use is rejected before the first handshake', async () => {
    const cert = folder.write('weak.pem', `${tls.client.cert}${weakAuthority}`);
    await expect(readIdentity(named('CERT', cert), named('KEY', key))).rejects.toThrow(
      `CERT: ${cert}: cannot be used: ERR_SSL_CA_KEY_TOO_SMALL`,
    );
  });

  test('with only expired authorities is rejected, a valid one is accepted', async () => {
    await expect(readAuthorities(named('CA', files.expiredCa))).rejects.toThrow(
      `CA: ${files.expiredCa}: the last`,
    );
    expect(await readAuthorities(named('CA', files.ca))).toMatchObject({ pem: tls.authority.pem });
    const both = folder.write('both.pem', `${oldAuthority.pem}${tls.authority.pem}`);
    const { endsAt } = await readAuthorities(named('CA', both));
    expect(endsAt.getTime()).toBeGreaterThan(Date.now());
  });
});

const live = {
  DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
  SIMPLANE_MODE: 'live',
  SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
};
const es2 = {
  ...live,
  SIMPLANE_ES2_URL: 'https://smdp.example.com:8443',
  SIMPLANE_ES2_CERT: files.cert,
  SIMPLANE_ES2_KEY: files.key,
  SIMPLANE_ES2_CA: files.ca,
  SIMPLANE_ES2_REQUESTER_ID: 'acme',
};

describe('serve', () => {
  test.each([
    [
      'an expired certificate',
      { ...es2, SIMPLANE_ES2_CERT: files.expired },
      `SIMPLANE_ES2_CERT: ${files.expired}`,
    ],
    [
      'a missing file of the listener',
      {
        ...live,
        SIMPLANE_ES2_LISTEN_PORT: '0',
        SIMPLANE_ES2_LISTEN_CERT: missing,
        SIMPLANE_ES2_LISTEN_KEY: files.key,
        SIMPLANE_ES2_LISTEN_CLIENT_CA: files.ca,
      },
      `SIMPLANE_ES2_LISTEN_CERT: ${missing}`,
    ],
  ])('with %s does not start, and names the setting', async (_, env, message) => {
    const { code, stderr } = await runCommand(['serve'], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  });

  test.each([
    [
      'half the settings',
      { ...live, SIMPLANE_ES2_URL: 'https://smdp.example.com' },
      'SIMPLANE_ES2_URL needs SIMPLANE_ES2_CERT, SIMPLANE_ES2_KEY, SIMPLANE_ES2_REQUESTER_ID as well',
    ],
    ['a live worker without an SM-DP+', { ...live, SIMPLANE_ROLE: 'worker' }, 'SIMPLANE_ES2_URL is required'],
  ])('with %s gets no configuration, and learns the setting', (_, env, message) => {
    expect(() => readConfig(env)).toThrow(message);
  });
});

test('an `api` process starts without the SM-DP+’s client key', async () => {
  const { url, drop } = await cloneDatabase();
  const server = await spawnServer({
    ...es2,
    DATABASE_URL: url,
    SIMPLANE_ROLE: 'api',
    SIMPLANE_ES2_CERT: missing,
    SIMPLANE_ES2_KEY: missing,
  });
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect(await server.end('SIGTERM')).toBe(0);
  await drop();
});

describe('doctor', () => {
  let smdp: FakeSmdp;
  beforeAll(async () => {
    smdp = await startFakeSmdp({ tls: tls.server });
  });
  afterAll(() => smdp.stop());

  async function examine(more: Record<string, string>) {
    const env = { ...es2, SIMPLANE_ES2_URL: smdp.url, SIMPLANE_ES2_SMDP_ADDRESS: 'rsp.example.com', ...more };
    const { stdout } = await runInProcess(['doctor', '--json'], env);
    const findings: { check: string; verdict: string; says: string }[] = JSON.parse(stdout);
    return Object.fromEntries(findings.map((finding) => [finding.check, finding]));
  }

  test('reports that the SM-DP+ accepts us, and when each certificate ends', async () => {
    const soon = tls.authority.issue({ name: 'listener', endsAt: new Date(Date.now() + 9 * day) });
    const found = await examine({
      SIMPLANE_ES2_LISTEN_PORT: '8443',
      SIMPLANE_ES2_LISTEN_CERT: folder.write('listener.pem', soon.cert),
      SIMPLANE_ES2_LISTEN_KEY: folder.write('listener.key', soon.key),
      SIMPLANE_ES2_LISTEN_CLIENT_CA: files.ca,
    });
    const endOf = (pem: string) => new Date(new X509Certificate(pem).validTo).toISOString().slice(0, 10);
    expect(found).toMatchObject({
      smdp: {
        verdict: 'ok',
        says: `127.0.0.1:${smdp.port} accepts our certificate and serves ES2+ at /gsma/rsp2/es2plus/releaseProfile`,
      },
      'smdp certificate': {
        verdict: 'ok',
        says: expect.stringContaining(`expires on ${endOf(tls.client.cert)}`),
      },
      'smdp peer': { verdict: 'ok', says: expect.stringContaining(`expires on ${endOf(tls.server.cert)}`) },
      'smdp listener': {
        verdict: 'warning',
        says: expect.stringContaining(`expires on ${endOf(soon.cert)}`),
      },
      'smdp clients': { verdict: 'warning', says: expect.stringContaining('SIMPLANE_ES2_LISTEN_SUBJECTS') },
    });
    // Its one request names an ICCID that cannot exist, so it changes nothing.
    expect(smdp.calls).toMatchObject([{ name: 'releaseProfile', body: { iccid: '0'.repeat(19) } }]);
    expect(smdp.profiles.size).toBe(0);
  });

  test.each([
    [
      'that we do not trust',
      { SIMPLANE_ES2_CA: files.strangersCa },
      'the issuer of its certificate, CN=Test authority, is not in SIMPLANE_ES2_CA',
    ],
    ['whose CA is not configured', { SIMPLANE_ES2_CA: '' }, 'is not a public CA; set SIMPLANE_ES2_CA'],
    [
      'that does not trust us',
      { SIMPLANE_ES2_CERT: files.strangersCert, SIMPLANE_ES2_KEY: files.strangersKey },
      'does not accept SIMPLANE_ES2_CERT',
    ],
    [
      'that is down',
      { SIMPLANE_ES2_URL: 'https://127.0.0.1:1' },
      '127.0.0.1:1: nothing listens there: it is down, or the port is wrong (ECONNREFUSED)',
    ],
    [
      'whose name does not exist',
      { SIMPLANE_ES2_URL: 'https://smdp.invalid' },
      /smdp\.invalid: (no such host; check the name in SIMPLANE_ES2_URL|the name cannot be looked up)/,
    ],
  ])('reports an SM-DP+ %s, with cause and remedy', async (_, env, says) => {
    const { smdp: finding } = await examine(env);
    expect(finding?.verdict).toBe('problem');
    expect(finding?.says).toMatch(says);
  });

  test('reports a wrong path', async () => {
    const { smdp: finding } = await examine({ SIMPLANE_ES2_URL: `${smdp.url}/es2` });
    expect(finding).toMatchObject({
      verdict: 'problem',
      says: `127.0.0.1:${smdp.port} answers HTTP 404 at /es2/gsma/rsp2/es2plus/releaseProfile: ES2+ is not there; check the path in SIMPLANE_ES2_URL`,
    });
  });

  test.each<[string, Mischief, string, RegExp]>([
    ['a web page', 'html', 'problem', /answers, but not with JSON; check the path/],
    ['JSON that is not ES2+', { answer: { header: {} } }, 'problem', /not in the format of ES2\+/],
    ['a redirect', { status: 302, isDone: false }, 'problem', /HTTP 302 at .*: ES2\+ is not there/],
    ['HTTP 403', { status: 403, isDone: false }, 'problem', /ask whether it knows our certificate/],
    ['HTTP 502', { status: 502, isDone: false }, 'problem', /the SM-DP\+ behind it is down/],
    ['HTTP 400', { status: 400, isDone: false }, 'warning', /answers HTTP 400/],
  ])('reports an SM-DP+ that answers with %s', async (_, mischief, verdict, says) => {
    smdp.onCall(() => mischief);
    const { smdp: finding } = await examine({});
    smdp.onCall(() => undefined);
    expect(finding?.verdict).toBe(verdict);
    expect(finding?.says).toMatch(says);
  });
});

describe('a handshake with the SM-DP+ fails', () => {
  const post = async (
    client: { cert: string; key: string; ca: string | null },
    server: typeof tls.server,
  ) => {
    const smdp = await startFakeSmdp({ tls: server });
    const made = createEs2Client({
      url: smdp.url,
      tls: client,
      protocolVersion: '2.2.0',
      connectTimeoutMs: 30_000,
    });
    const signal = new AbortController().signal;
    const posted = await Promise.all(
      [true, false].map((isFresh) =>
        made.post('/gsma/rsp2/es2plus/releaseProfile', '{}', { signal, isFresh }),
      ),
    );
    await made.close();
    await smdp.stop();
    expect(smdp.calls).toEqual([]);
    return posted;
  };
  const issue = (subject: object) => ({
    ...tls.authority.issue({ name: 'smdp', hosts: ['127.0.0.1'], ...subject }),
    clientCa: tls.authority.pem,
  });

  test.each([
    ['its certificate is expired', issue(past)],
    ['its certificate is for another name', issue({ hosts: ['other.example.com'] })],
    [
      'its certificate is from another authority',
      { ...stranger.issue({ name: 'smdp', hosts: ['127.0.0.1'] }), clientCa: '' },
    ],
  ])('if %s, and nothing is sent', async (_, server) => {
    const outcome = { kind: 'unanswered', why: 'peer-certificate', isUnsent: true };
    expect(await post(tls.client, server)).toMatchObject([outcome, outcome]);
  });

  test('if no authority is configured, and nothing is sent', async () => {
    const outcome = { kind: 'unanswered', why: 'peer-certificate', isUnsent: true };
    expect(await post({ ...tls.client, ca: null }, tls.server)).toMatchObject([outcome, outcome]);
  });

  test('if we do not trust it, also where the environment tells Node to trust every server', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    try {
      const outcome = { kind: 'unanswered', why: 'peer-certificate', isUnsent: true };
      expect(await post({ ...tls.client, ca: null }, tls.server)).toMatchObject([outcome, outcome]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('if it refuses our certificate with an alert, and nothing was done', async () => {
    const outcome = { kind: 'unanswered', why: 'own-certificate', isUnsent: true };
    expect(await post({ cert: '', key: '', ca: tls.authority.pem }, tls.server)).toMatchObject([
      outcome,
      outcome,
    ]);
  });

  test('if it does not trust us, and it gets no call', async () => {
    const posted = await post({ ...theirs, ca: tls.authority.pem }, tls.server);
    for (const each of posted) expect(each).toMatchObject({ kind: 'unanswered' });
  });

  test('and the order waits; only the operator sees the remedy, the peer’s name and the setting', async () => {
    const setup = await startSmdpSetup({ tls: issue(past) }, { iccids: 'theirs' });
    const service = await startService({ mode: 'live' });
    service.startWorker(setup.network, { retryScheduleMs: [5] });
    const { json } = await provision(service);
    await until(
      async () => setup.troubles,
      ({ length }) => length > 1,
    );
    const execution = (await call(service, 'GET', `/v1/executions/${json.id}`)).json;
    expect(execution.finished_at).toBeNull();
    expect(JSON.stringify(execution)).not.toMatch(/127\.0\.0\.1|SIMPLANE_|CERT_/);
    const key = await service.createKey({ scopes: ['operator'] });
    const shown = await call(service, 'GET', `/v1/operator/executions/${json.id}`, { key });
    expect(shown.json.last_error.message).toMatch(
      new RegExp(`^127\\.0\\.0\\.1:${setup.smdp.port}: .*SIMPLANE_ES2_CA.*CERT_`),
    );
    expect(setup.troubles[0]).toMatchObject({
      host: `127.0.0.1:${setup.smdp.port}`,
      remedy: expect.stringContaining('SIMPLANE_ES2_CA'),
    });
    expect(setup.smdp.calls).toEqual([]);
    await service.stop();
    await setup.stop();
  });
});
