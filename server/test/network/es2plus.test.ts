import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import nodeTls from 'node:tls';
import { describe, expect, test } from 'vitest';
import { checkConnection } from '../../src/network/es2plus/check-connection.ts';
import { createEs2Client, type Es2Client } from '../../src/network/es2plus/client.ts';
import { newIccid } from '../support/fake-smdp.ts';
import { createTls, startSmdpSetup } from '../support/smdp-setup.ts';
import { describeNetwork } from './conformance.ts';

const wanted = { productId: 'prod_1', profileType: 'consumer', eid: null };

describeNetwork('ES2+ with our own ICCIDs', async () => ({
  ...(await startSmdpSetup()),
  wanted,
  iccid: newIccid(1),
}));

describeNetwork('ES2+ with an SM-DP+ that refuses a repeated confirm and releases separately', async () => ({
  ...(await startSmdpSetup(
    { refusesRepeatedConfirm: '8.2.6/3.3', smdpAddress: null },
    { releasesOnConfirm: false },
  )),
  wanted,
  iccid: newIccid(2),
}));

describeNetwork('ES2+ with padded ICCIDs of an SM-DP+ that deduplicates by call id', async () => ({
  ...(await startSmdpSetup(
    { recognisesCalls: true, padsIccids: true },
    { iccids: 'theirs', recognisesCalls: true },
  )),
  wanted,
  iccid: null,
}));

const tls = createTls();

/** One call on a new connection and one on a kept one. */
async function postTo(server: Server, connectTimeoutMs: number, path = '') {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => void sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const client = createEs2Client({ url, tls: tls.client, protocolVersion: '2.2.0', connectTimeoutMs });
  const { signal } = new AbortController();
  const posted = await Promise.all(
    [true, false].map((isFresh) => client.post('/path', '{}', { signal, isFresh })),
  );
  await client.close();
  for (const socket of sockets) socket.destroy();
  server.close();
  return posted;
}

describe('the ES2+ driver', () => {
  const call = (id: string) => ({ id, attempt: 1, signal: new AbortController().signal });

  test('tells a call that had no connection from one that was aborted before it had one', async () => {
    const { network, smdp, stop } = await startSmdpSetup();
    await smdp.stop();
    const order = { ...call('c.order'), ...wanted, iccid: newIccid(3) };
    expect(await network.order(order)).toMatchObject({ hadNoEffect: true, isDown: true, isUnreached: true });
    const aborted = await network.order({ ...order, signal: AbortSignal.abort() });
    expect(aborted).toMatchObject({ kind: 'failed', hadNoEffect: true });
    expect(aborted).not.toHaveProperty('isDown');
    await stop();
  });

  test('sends the header of SGP.22 and only the fields that are set', async () => {
    const { smdp, network, stop } = await startSmdpSetup({}, { padsIccids: true });
    const iccid = newIccid(3);
    const eid = '89882119900000000000000000001654';
    await network.order({ ...call('c.order'), ...wanted, eid, iccid });
    const code = { matchingId: 'AB-12', confirmationCode: '4711' };
    const confirmed = await network.confirm({ ...call('c.confirm'), ...wanted, ...code, eid, iccid });
    expect(confirmed).toMatchObject({
      kind: 'done',
      result: { confirmationCodeRequired: true, isReleased: true },
    });
    const proof = { matchingId: 'AB-12', eid: null, isUnconfirmed: false };
    await network.cancel({ ...call('c.cancel'), iccid, ...proof });
    await stop();

    const header = (step: string) => ({
      functionRequesterIdentifier: 'simplane-test',
      functionCallIdentifier: `c.${step}`,
    });
    expect(smdp.calls.map(({ body }) => body)).toEqual([
      { header: header('order'), iccid: `${iccid}F`, profileType: 'consumer', eid },
      { header: header('confirm'), iccid: `${iccid}F`, releaseFlag: true, eid, ...code },
      {
        header: header('cancel'),
        iccid: `${iccid}F`,
        matchingId: 'AB-12',
        finalProfileStatusIndicator: 'Unavailable',
      },
    ]);
    for (const { headers } of smdp.calls) {
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'x-admin-protocol': 'gsma/rsp/v2.2.0',
      });
    }
  });

  test('uses a new connection for an order that must not be repeated, and a kept one otherwise', async () => {
    const used: boolean[] = [];
    const client: Es2Client = {
      host: 'smdp.example',
      async post(_, __, { isFresh }) {
        used.push(isFresh);
        return { kind: 'unanswered', why: 'connection', isUnsent: true, error: '' };
      },
      close: async () => {},
    };
    const { networkWith, stop } = await startSmdpSetup();
    const theirs = { client, iccids: 'theirs' } as const;
    const order = { ...call('c.order'), ...wanted };
    await networkWith(theirs).order({ ...order, iccid: null });
    await networkWith({ ...theirs, recognisesCalls: true }).order({ ...order, iccid: null });
    await networkWith({ client }).order({ ...order, iccid: newIccid(5) });
    await stop();
    expect(used).toEqual([true, false, false]);
  });

  test('cancels an order that was never confirmed only with the device that it was for', async () => {
    const { smdp, network, stop } = await startSmdpSetup();
    const [iccid, eid] = [newIccid(6), '89882119900000000000000000001654'];
    await network.order({ ...call('c.order'), ...wanted, eid, iccid });
    const cancel = (ofDevice: string) =>
      network.cancel({ ...call('c.cancel'), iccid, eid: ofDevice, matchingId: 'AB-12', isUnconfirmed: true });
    expect(await cancel(`${eid.slice(0, -4)}9999`)).toMatchObject({ kind: 'refused' });
    expect(smdp.profiles.get(iccid)?.state).toBe('Allocated');
    expect(await cancel(eid)).toMatchObject({ kind: 'done' });
    expect(smdp.profiles.get(iccid)?.state).toBe('Unavailable');
    await stop();
  });

  test('refuses an order without profile type and ICCID, with the remedy', async () => {
    const { smdp, driver, stop } = await startSmdpSetup({}, { iccids: 'theirs' });
    const reply = await driver.order({ ...call('c.order'), ...wanted, profileType: null, iccid: null });
    expect(reply).toMatchObject({
      kind: 'refused',
      reason: { code: 'declined', message: expect.stringContaining('`profile_type`') },
    });
    expect(smdp.calls).toEqual([]);
    await stop();
  });

  test('reads an answer up to a limit, and says that it is too large', async () => {
    const { smdp, network, stop } = await startSmdpSetup();
    smdp.onCall(() => 'huge');
    const reply = await network.order({ ...call('c.order'), ...wanted, iccid: newIccid(7) });
    expect(reply).toMatchObject({
      kind: 'failed',
      reason: { message: expect.stringContaining('too large') },
    });
    await stop();
  });

  test('reads the headers of an answer up to a limit', async () => {
    const server = createServer(tls.server, (_, response) =>
      response.writeHead(200, { 'x-long': 'x'.repeat(64 * 1024) }).end('{}'),
    );
    const posted = await postTo(server, 5_000);
    expect(posted).toMatchObject([{ why: 'connection' }, { why: 'connection' }]);
  });

  test.each([
    ['', '/path'],
    ['/', '/path'],
    ['/es2', '/es2/path'],
    ['/es2/', '/es2/path'],
  ])('finds the functions below the path of its URL (%j)', async (path, asked) => {
    const paths: unknown[] = [];
    const server = createServer(tls.server, (request, response) => {
      paths.push(request.url);
      response.end('{}');
    });
    await postTo(server, 5_000, path);
    expect(paths).toEqual([asked, asked]);
  });

  test('speaks TLS 1.2 or later, whatever the process’s default is', async () => {
    const { DEFAULT_MIN_VERSION } = nodeTls;
    Object.assign(nodeTls, { DEFAULT_MIN_VERSION: 'TLSv1.3' });
    try {
      const versions = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;
      const server = createServer({ ...tls.server, ...versions }, (_, response) => void response.end('{}'));
      expect(await postTo(server, 5_000)).toMatchObject([{ status: 200 }, { status: 200 }]);
    } finally {
      Object.assign(nodeTls, { DEFAULT_MIN_VERSION });
    }
  });

  test('gives up a peer that accepts the connection and completes no handshake, and has sent nothing', async () => {
    const silent = createTcpServer((socket) => void socket.on('error', () => {}));
    const startedMs = performance.now();
    const nothing = { kind: 'unanswered', why: 'timeout', isUnsent: true };
    expect(await postTo(silent, 200)).toMatchObject([nothing, nothing]);
    // A call that is aborted meanwhile ends no sooner.
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });

  test.each([
    ['hang', 'completes the handshake but gives no answer within 1500 ms'],
    ['huge', 'answers, but with more than an ES2+ message; check the path in SIMPLANE_ES2_URL'],
  ] as const)(
    'is checked by a request, and an answer that is none is explained: %s',
    async (mischief, says) => {
      const { smdp, tls: own, stop } = await startSmdpSetup();
      smdp.onCall(() => mischief);
      const checked = await checkConnection({
        ...{ url: smdp.url, tls: own.client, protocolVersion: '2.2.0' },
        ...{ requesterId: 'simplane-test', padsIccids: false, timeoutMs: 1_500 },
      });
      await stop();
      expect(checked).toEqual({ kind: 'failed', says: `127.0.0.1:${smdp.port} ${says}` });
    },
  );

  test('is checked by a request, and a status that is no answer is explained', async () => {
    const { smdp, tls: own, stop } = await startSmdpSetup();
    const options = { url: smdp.url, tls: own.client, protocolVersion: '2.2.0' };
    for (const [statuses, kind, says] of [
      [[401, 403], 'failed', 'it does not let this client in'],
      [[502, 503, 504], 'failed', 'its gateway is up, but the SM-DP+ behind it is down'],
      [[300, 399, 404, 405, 410], 'failed', 'ES2+ is not there; check the path'],
      [[400, 402, 406, 500, 501, 505], 'doubtful', 'to a request it should refuse with HTTP 200'],
    ] as const)
      for (const status of statuses) {
        smdp.onCall(() => ({ status, isDone: false }));
        const checked = await checkConnection({
          ...{ ...options, requesterId: 'simplane-test', padsIccids: true, timeoutMs: 30_000 },
        });
        expect(checked).toMatchObject({ kind, says: expect.stringContaining(says) });
        expect(checked.says).toContain(`answers HTTP ${status} at /gsma`);
      }
    expect(smdp.calls.at(-1)?.body).toMatchObject({ iccid: `${'0'.repeat(19)}F` });
    await stop();
  });

  test('redacts secrets in the SM-DP+’s error message', async () => {
    const { smdp, network, stop } = await startSmdpSetup();
    const message = 'AB-12 is not LPA:1$rsp.example.com$AB-12, code 47114711';
    smdp.onCall(() => ({
      answer: {
        header: {
          functionExecutionStatus: {
            status: 'Failed',
            statusCodeData: { subjectCode: '8.2.6', reasonCode: '3.3', message },
          },
        },
      },
    }));
    const code = { matchingId: 'AB-12', confirmationCode: '47114711' }; // longer than the port in the answer
    const reply = await network.confirm({ ...call('c.confirm'), ...wanted, ...code, iccid: newIccid(4) });
    expect(reply).toMatchObject({ kind: 'refused', reason: { code: 'state_conflict' } });
    expect(JSON.stringify(reply)).not.toMatch(/AB-12|47114711|rsp\.example/);
    await stop();
  });

  test.each(['confirm', 'release', 'cancel'] as const)(
    'keeps no part of a secret and no character that the database rejects (%s)',
    async (step) => {
      const { smdp, network, stop } = await startSmdpSetup({}, { releasesOnConfirm: false });
      const matchingId = 'AAAA-BBBB-CCCC-DDDD-EEEE';
      const message = `${'x'.repeat(180)}${matchingId} \u0000\ud800 ${'é'.repeat(5_000)}`;
      const statusCodeData = {
        subjectCode: '8.2',
        reasonCode: '1.2',
        subjectIdentifier: matchingId,
        message,
      };
      smdp.onCall(() => ({
        answer: { header: { functionExecutionStatus: { status: 'Failed', statusCodeData } } },
      }));
      const iccid = newIccid(5);
      const all = { ...call(`c.${step}`), ...wanted, iccid, matchingId };
      const reply = await network[step]({ ...all, confirmationCode: null, isUnconfirmed: false });
      const { upstream = {} } = (reply as { reason: { upstream?: Record<string, string> } }).reason;
      expect(upstream['subject_identifier']).toBe('[redacted]');
      expect(upstream['message']).toMatch(/^x{180}\[redacted\] {3} é+…$/);
      expect([...(upstream['message'] as string)]).toHaveLength(201);
      await stop();
    },
  );
});
