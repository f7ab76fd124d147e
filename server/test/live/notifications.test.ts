import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer, request } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findRefusal } from '../../src/network/es2plus/explain-refusal.ts';
import { createEs2Listener, type Es2Listener } from '../../src/network/es2plus/listener.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import {
  defaultNotificationMap,
  type NotificationMap,
  parseNotificationMap,
} from '../../src/network/notification-map.ts';
import type { Observation } from '../../src/network/port.ts';
import { createObservationHandler } from '../../src/orders/observations/handle-observation.ts';
import { createAuthority, createFolder } from '../support/certificates.ts';
import { call, provision } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { newIccid } from '../support/fake-smdp.ts';
import { spawnServer } from '../support/process.ts';
import { startService, type TestService } from '../support/service.ts';
import { createTls } from '../support/smdp-setup.ts';
import { stopServer } from '../support/stop-server.ts';
import { until } from '../support/until.ts';

const path = '/gsma/rsp2/es2plus/handleDownloadProgressInfo';
const tls = createTls();
const client = { cert: tls.client.cert, key: tls.client.key, ca: tls.authority.pem };

let service: TestService;
let listener: Listening;
const outcomes: [string, object][] = [];

type Listening = { port: number; stop(timeoutMs: number): Promise<void>; renew: Es2Listener['renew'] };
type Take = (observation: Observation) => Promise<boolean>;

async function listen(
  take: Take,
  onEvent: (outcome: string, details: object) => void,
  subjects: string[] | null = null,
): Promise<Listening> {
  let port = 0;
  const source = createEs2Listener({
    host: '127.0.0.1',
    port: 0,
    tls: tls.server,
    subjects,
    protocolVersion: '2.2.0',
    notificationMap: parseNotificationMap(
      '1=error,3=downloaded,4=installed,5=deleted,101=enabled',
    ) as NotificationMap,
    now: () => new Date(service.clock.nowMs()),
    onEvent,
    onListening: (listening) => {
      port = listening;
    },
  });
  return { ...(await source.start(take)), renew: source.renew, port };
}

beforeAll(async () => {
  service = await startService({ mode: 'live' });
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  listener = await listen(
    createObservationHandler(service.service),
    (outcome, details) => void outcomes.push([outcome, details]),
  );
});
afterAll(async () => {
  await listener.stop(1_000);
  await service.stop();
});

type Sent = { status: number; headers: Record<string, unknown>; text: string };

function send(
  body: unknown,
  options: { method?: string; path?: string; tls?: object; port?: number } = {},
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const made = request(
      {
        host: '127.0.0.1',
        port: options.port ?? listener.port,
        path: options.path ?? path,
        method: options.method ?? 'POST',
        agent: false,
        ...(options.tls ?? client),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode as number,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    made.on('error', reject);
    made.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

async function provisioned(): Promise<string> {
  const { json } = await provision(service);
  const look = async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json;
  return (await until(look, ({ status }) => status === 'succeeded')).iccid;
}

function notification(
  iccid: string,
  point: number | string,
  at = new Date().toISOString(),
  more: object = {},
) {
  return {
    header: { functionRequesterIdentifier: 'smdp', functionCallIdentifier: 'n-1' },
    iccid,
    profileType: 'consumer',
    timestamp: at,
    notificationPointId: point,
    notificationPointStatus: { status: 'Executed-Success' },
    ...more,
  };
}

async function esim(iccid: string) {
  return (await call(service, 'GET', `/v1/esims/${iccid}`)).json;
}

async function typesOf(iccid: string): Promise<string[]> {
  const rows = await service.db.query<{ type: string }>(
    {
      name: 'events_of_esim',
      text: `select type from events where body::jsonb -> 'data' ->> 'iccid' = $1 order by id`,
    },
    [iccid],
  );
  return rows.map(({ type }) => type).filter((type) => type !== 'esim.provisioned');
}

describe('a notification of the SM-DP+', () => {
  test('is answered 204 once it is stored as a state and an event', async () => {
    const iccid = await provisioned();
    const at = '2026-01-02T03:04:05Z';
    const eid = '89882119900000000000000000001654';
    const sent = await send(notification(`${iccid}F`, 3, at, { eid }));
    expect(sent).toMatchObject({ status: 204, text: '', headers: { 'x-admin-protocol': 'gsma/rsp/v2.2.0' } });
    expect(await esim(iccid)).toMatchObject({
      status: 'provisioned',
      eid,
      profile: { state: 'downloaded', updated_at: Date.parse(at) / 1000 },
    });
    expect(await typesOf(iccid)).toEqual(['esim.downloaded']);
    expect(await service.service.metrics.registry.metrics()).toMatch(
      /simplane_network_reports_total\{outcome="taken"\} [1-9]/,
    );
  });

  test('counts once for any order and repetition', async () => {
    const iccid = await provisioned();
    const download = notification(iccid, '3', '2026-01-02T03:04:05.250+01:00');
    const install = notification(iccid, 4, '2026-01-02T02:04:06');
    const all = [install, download, install, install, download];
    expect(await Promise.all(all.map((each) => send(each)))).toMatchObject(all.map(() => ({ status: 204 })));
    await send(install);
    expect((await esim(iccid)).profile.state).toBe('installed');
    const types = await typesOf(iccid);
    expect(types.filter((type) => type === 'esim.installed')).toHaveLength(1);
    expect(types.filter((type) => type === 'esim.downloaded').length).toBeLessThanOrEqual(1);
  });

  test.each([
    ['at a vendor’s point that is mapped', 101, 'Executed-Success', 'enabled'],
    ['with a warning', 4, 'Executed-WithWarning', 'installed'],
    ['of a failed download', 3, 'Failed', 'error'],
    ['of a failed eligibility check that is mapped', 1, 'Failed', 'error'],
    ['of a passed eligibility check', 1, 'Executed-Success', 'released'],
    ['of a failed deletion', 5, 'Failed', 'released'],
    ['at a point that is not mapped', 102, 'Executed-Success', 'released'],
  ])('%s (%i %s) leads to the state %s', async (_, point, status, state) => {
    const iccid = await provisioned();
    const statusCodeData = { subjectCode: '8.2', reasonCode: '4.2', message: 'x' };
    const more = { notificationPointStatus: { status, statusCodeData } };
    expect((await send(notification(iccid, point, undefined, more))).status).toBe(204);
    expect((await esim(iccid)).profile.state).toBe(state);
  });

  test('from a clock that is ahead does not hide later ones', async () => {
    const iccid = await provisioned();
    await send(notification(iccid, 3, '2031-01-01T00:00:00Z'));
    service.clock.advance(1_000);
    await send(notification(iccid, 4, '2031-01-01T00:00:00Z'));
    expect((await esim(iccid)).profile.state).toBe('installed');
    service.clock.advance(1_000);
    await send(notification(iccid, 3, new Date(service.clock.nowMs()).toISOString()));
    expect((await esim(iccid)).profile.state).toBe('downloaded');
  });

  test('of an unknown ICCID is answered 204 and only counted', async () => {
    const iccid = newIccid(77);
    expect((await send(notification(iccid, 3))).status).toBe(204);
    expect(outcomes).toContainEqual(['unknown_iccid', { iccid, notification_point_id: 3 }]);
    expect(await service.service.metrics.registry.metrics()).toMatch(
      /simplane_network_reports_total\{outcome="unknown"\} [1-9]/,
    );
    expect((await call(service, 'GET', `/v1/esims/${iccid}`)).status).toBe(404);
  });

  test.each([
    ['no JSON', 'hello', '2.1'],
    ['an array', [], '2.1'],
    ['no ICCID', { ...notification('', 3) }, '2.2'],
    ['an ICCID as a number', { ...notification('', 3), iccid: 8_999_901 }, '2.1'],
    ['an invalid timestamp', { ...notification(newIccid(1), 3, 'yesterday') }, '2.1'],
    ['an invalid status', { ...notification(newIccid(1), 3), notificationPointStatus: 'fine' }, '2.1'],
    ['an invalid point', { ...notification(newIccid(1), 'x') }, '2.1'],
  ])('with %s is answered 400 in the format of ES2+', async (_, body, reasonCode) => {
    const sent = await send(body);
    expect(sent.status).toBe(400);
    expect(JSON.parse(sent.text)).toMatchObject({
      header: {
        functionExecutionStatus: { status: 'Failed', statusCodeData: { subjectCode: '1.6', reasonCode } },
      },
    });
  });

  test('that is too large is rejected', async () => {
    const body = { ...notification(newIccid(1), 3), resultData: 'x'.repeat(200_000) };
    const sent = await send(body).catch((error: Error) => error);
    if (!(sent instanceof Error)) expect(sent.status).toBe(413);
    expect((await send(notification(newIccid(1), 3))).status).toBe(204);
  });

  test('is accepted only as POST on its path', async () => {
    expect(await send('', { method: 'GET' })).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    expect(await send('', { path: '/v1/me' })).toMatchObject({ status: 404 });
    expect(await send('', { path: '/metrics', method: 'GET' })).toMatchObject({ status: 404 });
  });

  test('that cannot be stored is answered 500, so that the SM-DP+ sends it again', async () => {
    const broken = await listen(
      () => Promise.reject(new Error('the database is away')),
      () => {},
    );
    const sent = await send(notification(newIccid(1), 3), { port: broken.port });
    expect(sent.status).toBe(500);
    expect(sent.text).not.toContain('database');
    await broken.stop(1_000);
  });
});

describe('a failed download or installation', () => {
  const failed = (iccid: string, point: number, codes: string, at: string, message = 'no') => {
    const [subjectCode, reasonCode] = codes.split('/');
    const statusCodeData = { subjectCode, reasonCode, message };
    return notification(iccid, point, at, { notificationPointStatus: { status: 'Failed', statusCodeData } });
  };
  const second = (n: number) => `2026-01-02T03:04:0${n}Z`;

  async function errorsOf(iccid: string) {
    const { profile } = await esim(iccid);
    const install = (await call(service, 'GET', `/v1/esims/${iccid}/install`)).json;
    expect(install.profile_error).toEqual(profile.error);
    return profile.error;
  }

  async function eventsOf(iccid: string) {
    const { data } = (await call(service, 'GET', '/v1/events?limit=50')).json;
    type Event = { type: string; data: { iccid?: string; error?: object } };
    const ours = (data as Event[]).filter((event) => event.data.iccid === iccid);
    return ours.reverse().filter(({ type }) => type !== 'esim.provisioned');
  }

  test.each([
    [3, '8.2.6/3.8', 'download', 'activation_code_refused', 'activation code'],
    [3, '8.8.5/4.10', 'download', 'download_expired', 'order another'],
    [3, '8.1/4.8', 'download', 'device_memory_full', 'Delete one'],
    [3, '8.2.7/3.8', 'download', 'confirmation_code_refused', 'Enter the code'],
    [1, '9.9/9.9', 'download', 'device_not_eligible', 'another device'],
    [4, '8.1.3/6.1', 'install', 'device_not_trusted', 'certificates'],
    [4, '9.9/9.9', 'install', 'other', 'could not install'],
  ])('(%i, %s) is an event and shows on the eSIM and its install profile', async (...of) => {
    const [point, codes, step, code, says] = of;
    const iccid = await provisioned();
    await send(failed(iccid, point, codes, second(1), `LPA:1$smdp.example.com$SECRET-1 ${'x'.repeat(500)}`));
    const [subject_code, reason_code] = codes.split('/');
    const error = {
      code,
      message: expect.stringContaining(says),
      upstream: {
        ...{ subject_code, reason_code, notification_point_id: String(point) },
        message: expect.stringMatching(/^\[redacted\] x+…$/),
      },
    };
    expect(await errorsOf(iccid)).toEqual(error);
    expect((await errorsOf(iccid)).message).toContain(codes);
    expect(await eventsOf(iccid)).toMatchObject([{ type: `esim.${step}_failed`, data: { iccid, error } }]);
    expect((await esim(iccid)).status).toBe('provisioned');
  });

  test('without codes still says what failed', async () => {
    const iccid = await provisioned();
    const more = { notificationPointStatus: { status: 'Expired' } };
    await send(notification(iccid, 4, second(1), more));
    const error = { code: 'other', upstream: { notification_point_id: '4' } };
    expect(await errorsOf(iccid)).toMatchObject(error);
    expect(await typesOf(iccid)).toEqual(['esim.install_failed']);
  });

  test('is one event for any repetition, and another for another cause', async () => {
    const iccid = await provisioned();
    const first = failed(iccid, 3, '8.2.7/3.8', second(3));
    expect(await Promise.all([first, first, first].map((each) => send(each)))).toHaveLength(3);
    await send(failed(iccid, 3, '8.2.7/3.8', second(4), 'the same in other words'));
    await send(failed(iccid, 3, '8.1/4.8', second(2))); // late
    expect(await typesOf(iccid)).toEqual(['esim.download_failed']);
    expect(await errorsOf(iccid)).toMatchObject({ code: 'confirmation_code_refused' });
    await send(failed(iccid, 3, '8.2.7/6.4', second(5)));
    await send(failed(iccid, 4, '8.2.7/6.4', second(6)));
    await send(failed(iccid, 4, '9.8/9.9', second(7)));
    await send(failed(iccid, 4, '9.9/9.9', second(8)));
    expect(await typesOf(iccid)).toEqual([
      ...['esim.download_failed', 'esim.download_failed'],
      ...['esim.install_failed', 'esim.install_failed', 'esim.install_failed'],
    ]);
  });

  test('is cleared by a later success, and not set by a failure before it', async () => {
    const iccid = await provisioned();
    await send(failed(iccid, 3, '8.2.7/3.8', second(1)));
    await send(notification(iccid, 3, second(3)));
    await send(failed(iccid, 3, '8.1/4.8', second(2)));
    expect(await errorsOf(iccid)).toBeUndefined();
    expect((await esim(iccid)).profile).toEqual({ state: 'downloaded', updated_at: expect.any(Number) });
    await send(failed(iccid, 4, '8.1/4.8', second(4)));
    expect(await errorsOf(iccid)).toMatchObject({ code: 'device_memory_full' });
    expect(await typesOf(iccid)).toEqual(['esim.download_failed', 'esim.downloaded', 'esim.install_failed']);
  });

  test.each([
    [3, 'downloaded', 3],
    [4, 'installed', 3],
    [4, 'installed', 4],
    [101, 'enabled', 1],
    [101, 'enabled', 4],
  ])(
    'changes nothing of a profile that a device has (success at %i, %s, failure at %i)',
    async (had, state, point) => {
      const iccid = await provisioned();
      await send(notification(iccid, had, second(1)));
      await send(failed(iccid, point, '8.2.6/3.8', second(2)));
      const { profile } = await esim(iccid);
      expect([profile.state, profile.error]).toEqual([state, undefined]);
      expect(await typesOf(iccid)).toEqual([`esim.${state}`]);
    },
  );

  test('counts again once the profile was deleted', async () => {
    const iccid = await provisioned();
    await send(notification(iccid, 5, second(1)));
    await send(failed(iccid, 3, '8.2.6/3.8', second(2)));
    expect(await typesOf(iccid)).toEqual(['esim.deleted', 'esim.download_failed']);
  });

  test('at the standard’s points 1 and 2 counts by default', () => {
    const map = parseNotificationMap(defaultNotificationMap);
    expect([map?.get(1), map?.get(2)]).toEqual(['error', 'error']);
  });
});

describe('a client without a trusted certificate', () => {
  const stranger = createAuthority('Somebody else').issue({ name: 'stranger' });
  const day = 86_400_000;
  const expired = tls.authority.issue({
    name: 'expired',
    startsAt: new Date(Date.now() - 3 * day),
    endsAt: new Date(Date.now() - day),
  });
  let own: Listening;
  const taken: object[] = [];
  const turnedAway: object[] = [];
  beforeAll(async () => {
    own = await listen(
      async (observation) => taken.push(observation) > 0,
      (outcome, details) => void (outcome === 'turned_away' && turnedAway.push(details)),
    );
  });
  afterAll(() => own.stop(1_000));

  const refused = async () => {
    const [refusal] = await until(
      async () => [...turnedAway],
      ({ length }) => length > 0,
    );
    turnedAway.length = 0;
    return refusal;
  };

  test.each([
    ['none', { ca: tls.authority.pem }, { cause: 'it presented no certificate' }],
    [
      'of another authority',
      { ...stranger, ca: tls.authority.pem },
      {
        subject: 'CN=stranger',
        issuer: 'CN=Somebody else',
        cause: 'issuer not in SIMPLANE_ES2_LISTEN_CLIENT_CA',
      },
    ],
    [
      'expired',
      { ...expired, ca: tls.authority.pem },
      {
        subject: 'CN=expired',
        issuer: 'CN=Test authority',
        cause: expect.stringMatching(/^its certificate expired on /),
      },
    ],
  ])('(%s) gets no answer, and the report says who and why', async (_, credentials, report) => {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const sent = send(notification(newIccid(1), 3), {
        tls: { ...credentials, maxVersion },
        port: own.port,
      });
      await expect(sent).rejects.toThrow();
      expect(taken).toEqual([]);
      expect(await refused()).toEqual({ from: '127.0.0.1', ...report });
    }
  });

  /** Connects twice with one session; resolves with whether the second connection resumed it. */
  async function resume(port: number, credentials: object): Promise<boolean> {
    const options = { host: '127.0.0.1', port, ca: tls.authority.pem, ...credentials };
    const ask = async (session?: Buffer) => {
      const socket = connectTls({ ...options, ...(session && { session }) });
      const sessions: Buffer[] = [];
      socket.on('session', (each) => void sessions.push(each));
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      await once(socket, 'data');
      const isReused = socket.isSessionReused();
      await once(socket.resume(), 'close');
      return { sessions, isReused };
    };
    const { sessions } = await ask();
    expect(sessions.length).toBeGreaterThan(0);
    const { isReused } = await ask(sessions.at(-1));
    return isReused;
  }

  test('cannot resume a session, and neither can a trusted one', async () => {
    expect(await resume(own.port, { cert: tls.client.cert, key: tls.client.key })).toBe(false);
  });

  test('is refused even where a session is resumed, which Node 20 calls authorized', async () => {
    const { cert, key } = tls.server;
    const server = createServer({
      cert,
      key,
      ca: tls.authority.pem,
      requestCert: true,
      rejectUnauthorized: false,
    });
    const refusals: unknown[] = [];
    server.on('secureConnection', (socket) => void refusals.push(findRefusal(socket, null)));
    server.on('request', (_, response) => void response.end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    expect(await resume((server.address() as AddressInfo).port, {})).toBe(true);
    const none = { from: '127.0.0.1', cause: 'it presented no certificate' };
    await until(
      async () => refusals.length,
      (count) => count === 2,
    );
    expect(refusals).toEqual([none, none]);
    await stopServer(server);
  });

  test('that does not accept our certificate is reported with the cause', async () => {
    const sent = send('', { tls: { ...tls.client, ca: createAuthority('Nobody').pem }, port: own.port });
    await expect(sent).rejects.toThrow();
    expect(await refused()).toMatchObject({ cause: expect.stringMatching(/does not accept|closed/) });
  });

  test('(plain HTTP) gets no answer', async () => {
    const socket = connect({ host: '127.0.0.1', port: own.port });
    socket.end(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => {});
    await new Promise((resolve) => socket.on('close', resolve));
    expect(text).not.toContain('HTTP/');
    expect(taken).toEqual([]);
    await until(
      async () => turnedAway.map((refusal) => (refusal as { cause: string }).cause),
      (causes) => causes.includes('it does not speak TLS'),
    );
  });
});

describe('where names are listed, a certificate of the authority', () => {
  const listed = ['es2.smdp.example', 'Acme SM-DP+'];
  let own: Listening;
  const turnedAway: object[] = [];
  beforeAll(async () => {
    const keep = (outcome: string, details: object) =>
      void (outcome === 'turned_away' && turnedAway.push(details));
    own = await listen(async () => true, keep, listed);
  });
  afterAll(() => own.stop(1_000));

  function sendAs(name: string | string[], hosts: string[] = []): Promise<Sent> {
    const credentials = { ...tls.authority.issue({ name, hosts }), ca: tls.authority.pem };
    return send(notification(newIccid(1), 3), { tls: credentials, port: own.port });
  }

  test.each([
    ['a listed common name', 'es2.smdp.example', []],
    ['one with spaces', 'Acme SM-DP+', ['other.example']],
    ['a listed DNS name', 'client 7', ['other.example', 'es2.smdp.example']],
    ['a listed DNS name and several common names', ['a', 'b'], ['es2.smdp.example']],
  ])('with %s is accepted', async (_, name, hosts) => {
    expect((await sendAs(name, hosts)).status).toBe(204);
  });

  test.each([
    ['another common name', 'another', []],
    ['a listed name within another', 'es2.smdp.example.attacker.example', ['not-es2.smdp.example']],
    ['a part of a listed name', 'smdp.example', ['smdp.example']],
    ['a wildcard for a listed name', '*.smdp.example', ['*.smdp.example']],
    ['several common names, one of them listed', ['another', 'es2.smdp.example'], []],
    ['a listed name and more after a zero byte', 'es2.smdp.example\0.attacker.example', []],
    ['a DNS name that looks like two', 'another', ['x, DNS:es2.smdp.example']],
  ])('with %s gets no answer, and the report says who and why', async (_, name, hosts) => {
    turnedAway.length = 0;
    await expect(sendAs(name, hosts)).rejects.toThrow();
    const [report] = await until(
      async () => [...turnedAway],
      ({ length }) => length > 0,
    );
    expect(report).toMatchObject({
      from: '127.0.0.1',
      issuer: 'CN=Test authority',
      cause: 'its names are not in SIMPLANE_ES2_LISTEN_SUBJECTS',
      names: hosts.length > 0 ? expect.stringMatching(/^DNS:/) : 'none',
    });
  });
});

describe('a connection that is kept', () => {
  const requestOf = (iccid: string) => {
    const body = JSON.stringify(notification(iccid, 3));
    return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };

  test('is closed when the trusted authority is replaced, so that its next request shows a certificate again', async () => {
    const own = await listen(
      async () => true,
      () => {},
    );
    const socket = connectTls({ host: '127.0.0.1', port: own.port, ...client });
    let answers = '';
    socket.on('data', (chunk) => {
      answers += chunk;
    });
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(requestOf(newIccid(1)));
    await until(
      async () => answers,
      (text) => text.includes('204'),
    );
    own.renew({ cert: tls.server.cert, key: tls.server.key, clientCa: createAuthority('Another').pem });
    socket.write(requestOf(newIccid(2)).replace('Host: x', 'Host: x\r\nConnection: close'));
    await closed;
    expect(answers.match(/HTTP\/1\.1 204/g)).toHaveLength(1);
    await own.stop(1_000);
  });

  test('whose notification is never stored does not keep the listener from stopping', async () => {
    let reach = () => {};
    const reached = new Promise<void>((resolve) => {
      reach = resolve;
    });
    const own = await listen(
      () => {
        reach();
        return new Promise(() => {});
      },
      () => {},
    );
    const sent = send(notification(newIccid(1), 3), { port: own.port }).catch(() => 'cut off');
    await reached;
    await own.stop(10);
    expect(await sent).toBe('cut off');
  });
});

test('a live server from the command line receives notifications and stops', async () => {
  const folder = createFolder();
  const database = await cloneDatabase();
  const server = await spawnServer({
    DATABASE_URL: database.url,
    SIMPLANE_MODE: 'live',
    SIMPLANE_ROLE: 'api',
    SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
    SIMPLANE_ES2_LISTEN_PORT: '0',
    SIMPLANE_ES2_LISTEN_CERT: folder.write('listen.pem', tls.server.cert),
    SIMPLANE_ES2_LISTEN_KEY: folder.write('listen.key', tls.server.key),
    SIMPLANE_ES2_LISTEN_CLIENT_CA: folder.write('ca.pem', tls.authority.pem),
    SIMPLANE_ES2_LISTEN_SUBJECTS: 'es2.smdp.example, Simplane',
  });
  try {
    const found = await until(
      async () => /"port":(\d+),"msg":"listening for SM-DP\+ notifications"/.exec(server.output()),
      (found) => found !== null,
    );
    const port = Number(found?.[1]);
    const listed = { ...tls.authority.issue({ name: 'Simplane' }), ca: tls.authority.pem };
    expect((await send(notification(newIccid(1), 3), { port, tls: listed })).status).toBe(204);
    const other = { ...tls.authority.issue({ name: 'another' }), ca: tls.authority.pem };
    await expect(send(notification(newIccid(1), 3), { port, tls: other })).rejects.toThrow();
    await until(
      async () => server.output(),
      (output) => output.includes('its names are not in SIMPLANE_ES2_LISTEN_SUBJECTS'),
    );
  } finally {
    expect(await server.end('SIGTERM')).toBe(0);
  }
  await database.drop();
  folder.remove();
});

test('each connection that cannot be accepted is reported, and the server keeps listening', async () => {
  const reported: [string, object][] = [];
  const own = await listen(
    async () => true,
    (outcome, details) => void reported.push([outcome, details]),
  );
  const servers: Server[] = [];
  const see = (message: unknown) => void servers.push((message as { server: Server }).server);
  subscribe('http.server.request.start', see);
  const ask = () => send('', { method: 'GET', port: own.port });
  await ask();
  unsubscribe('http.server.request.start', see);
  const noneLeft = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' });
  for (let count = 0; count < 3; count++) servers[0]?.emit('error', noneLeft);
  expect(reported).toEqual(Array.from({ length: 3 }, () => ['turned_away', { error: 'EMFILE' }]));
  expect((await ask()).status).toBe(405);
  await own.stop(0);
});
