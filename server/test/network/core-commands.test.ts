import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCoreCommands } from '../../src/network/core/core-commands.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { createPeerState } from '../../src/network/peer-state.ts';
import { call, provision } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { spawnServer } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const secret = 'a-secret-of-the-tests-and-nobody-else';
const iccid = '8999901000000000018';
const nowSeconds = () => Math.floor(Date.now() / 1000);

let core: Receiver;
let commands: ReturnType<typeof createCoreCommands>;
beforeAll(async () => {
  core = await startReceiver();
  commands = createCoreCommands({ url: `${core.url}/esims`, secret, userAgent: 'Simplane/test', nowSeconds });
});
beforeEach(() => {
  core.received.length = 0;
  core.answer((response) => response.end('{}'));
});
afterAll(() => core.stop());

function suspend(signal: AbortSignal = new AbortController().signal) {
  return commands.suspend({ id: '7.suspend', attempt: 1, signal, iccid });
}

function answer(status: number, body: string, headers: Record<string, string> = {}) {
  core.answer((response) => response.writeHead(status, headers).end(body));
}

describe('a command', () => {
  test('is one signed POST with its id, the command and the eSIM', async () => {
    expect(await suspend()).toEqual({ kind: 'done', result: {} });
    const [got] = core.received;
    expect(core.received).toHaveLength(1);
    expect(got?.path).toBe('/esims');
    expect(JSON.parse(got?.body ?? '')).toEqual({ id: '7.suspend', command: 'suspend', iccid, attempt: 1 });
    expect(got?.headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': '7.suspend',
      'user-agent': 'Simplane/test',
    });
    const signature = String(got?.headers['service-signature']);
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
    expect(v1).toBe(createHmac('sha256', secret).update(`${t}.${got?.body}`).digest('hex'));
    expect(Math.abs(Number(t) - Date.now() / 1000)).toBeLessThan(60);
  });

  test.each([200, 201, 202, 204])('is done when the core answers %i', async (status) => {
    answer(status, '');
    expect(await suspend()).toMatchObject({ kind: 'done' });
  });

  test.each([
    [409, 'state_conflict'],
    [400, 'declined'],
    [404, 'declined'],
    [422, 'declined'],
  ])('is refused finally by a %i with a message', async (status, code) => {
    answer(status, JSON.stringify({ message: 'the line is barred' }));
    expect(await suspend()).toEqual({
      kind: 'refused',
      reason: {
        code,
        message: 'The operator’s core refused to suspend the eSIM: the line is barred',
        host: expect.stringMatching(/^127\.0\.0\.1:/),
        upstream: { status: String(status), message: 'the line is barred' },
      },
    });
  });

  test.each([
    [400, 'not JSON'],
    [401, '{"error": "who are you"}'],
    [404, '<html>'],
    [408, '{"message": "slow"}'],
    [425, '{"message": "early"}'],
    [429, '{"message": "too many"}'],
    [422, '{"message": 7}'],
    [422, '{"message": ""}'],
    [500, '{"message": "broken"}'],
    [503, ''],
  ])('fails temporarily on a %i %s', async (status, body) => {
    answer(status, body);
    expect(await suspend()).toMatchObject({
      kind: 'failed',
      reason: { code: 'network_unavailable', upstream: { status: String(status) } },
    });
  });

  test('follows no redirect', async () => {
    answer(307, '', { location: `${core.url}/elsewhere` });
    expect(await suspend()).toMatchObject({
      kind: 'failed',
      reason: { message: expect.stringContaining('redirect') },
    });
    expect(core.received.map(({ path }) => path)).toEqual(['/esims']);
  });

  test('keeps at most 300 characters of the core’s message, without control characters and lone surrogates', async () => {
    answer(422, `{"message": "a\\u0000b\\n\\ud800${'é'.repeat(5_000)}"}`);
    const reply = await suspend();
    const shown = reply.kind === 'refused' ? (reply.reason.upstream?.['message'] ?? '') : '';
    expect(shown).toMatch(/^a b {2}é+…$/);
    expect([...shown]).toHaveLength(301);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['resets the connection', (response) => response.destroy()],
    [
      'disconnects in the middle of its answer',
      (response) => {
        response.writeHead(422, { 'content-length': '1000' });
        response.write('{"message"');
        setImmediate(() => response.destroy());
      },
    ],
  ])('fails temporarily when the core %s', async (_, behave) => {
    core.answer(behave);
    expect(await suspend()).toMatchObject({ kind: 'failed', reason: { code: 'network_unavailable' } });
  });

  test('is aborted when the core hangs before or during its answer', async () => {
    for (const behave of [() => {}, (response: ServerResponse) => void response.writeHead(500).write('…')]) {
      const ending = new AbortController();
      core.answer((response) => {
        behave(response);
        setTimeout(() => ending.abort(), 20);
      });
      expect(await suspend(ending.signal)).toMatchObject({
        ...{ kind: 'failed', reason: { message: expect.stringContaining('no answer in time') } },
      });
    }
  });

  test('reads only the start of an endless answer', async () => {
    let closed = false;
    core.answer((response) => {
      response.writeHead(422);
      const more = () => response.write('x'.repeat(16_384), () => !closed && setImmediate(more));
      response.once('close', () => {
        closed = true;
      });
      more();
    });
    expect(await suspend()).toMatchObject({ kind: 'failed', reason: { upstream: { status: '422' } } });
    await until(async () => closed, Boolean);
  });

  test.each([
    [200, true, null],
    [307, true, 'HTTP 307'],
    [429, true, 'HTTP 429'],
    [500, true, 'HTTP 500'],
    [502, false, 'HTTP 502'],
    [503, false, 'HTTP 503'],
    [504, false, 'HTTP 504'],
  ])(
    'answered with %i shows the operator whether the core is reached',
    async (status, reachable, message) => {
      answer(status, '');
      const state = createPeerState('core', 'core.example');
      const options = { url: core.url, secret, userAgent: 'x', nowSeconds, state };
      const { signal } = new AbortController();
      await createCoreCommands(options).resume({ id: '1', attempt: 1, signal, iccid });
      state.connected(1);
      const { reachable: isReachable, last_error: error } = state.report();
      expect([isReachable, error?.message ?? null]).toEqual([reachable, message]);
    },
  );

  test('that fails is in the operator’s log, with the host, and shows when the core is not reached', async () => {
    const troubles: object[] = [];
    const state = createPeerState('core', 'core.example');
    const onTrouble = (details: object) => void troubles.push(details);
    const options = { url: core.url, secret, userAgent: 'x', nowSeconds, state, onTrouble };
    const { signal } = new AbortController();
    const resume = () => createCoreCommands(options).resume({ id: '1', attempt: 1, signal, iccid });
    core.answer((response) => response.destroy());
    await resume();
    expect(state.report()).toMatchObject({ reachable: false, last_error: { message: expect.any(String) } });
    answer(422, '{"message": "no"}');
    await resume();
    expect(state.report().reachable).toBe(true);
    const about = { command: 'resume', id: '1', host: new URL(core.url).host };
    expect(troubles).toMatchObject([
      { ...about, error: expect.any(String) },
      { ...about, status: 422 },
    ]);
  });

  test('that fails has a message that promises no retry', async () => {
    answer(503, '');
    expect(await suspend()).toMatchObject({
      reason: { message: expect.stringMatching(/the command: HTTP 503\.$/) },
    });
  });

  test('fails with the reason if no core is configured', async () => {
    const troubles: object[] = [];
    const onTrouble = (details: object) => void troubles.push(details);
    const nowhere = createCoreCommands({ url: null, secret: null, userAgent: 'x', nowSeconds, onTrouble });
    const { signal } = new AbortController();
    expect(await nowhere.resume({ id: '1', attempt: 1, signal, iccid })).toMatchObject({
      kind: 'failed',
      reason: {
        message: expect.stringContaining('not connected'),
        detail: expect.stringContaining('SIMPLANE_CORE_URL'),
      },
    });
    expect(troubles).toMatchObject([{ remedy: expect.stringContaining('SIMPLANE_CORE_URL') }]);
  });
});

describe('a state', () => {
  const setService = () =>
    commands.setService({ id: `${iccid}.1`, body: '{"id":"x"}', signal: new AbortController().signal });

  test('is sent as the bytes that were given, signed, with its id', async () => {
    expect(await setService()).toEqual({ kind: 'done', result: {} });
    expect(core.received[0]?.body).toBe('{"id":"x"}');
    expect(core.received[0]?.headers['idempotency-key']).toBe(`${iccid}.1`);
  });

  test.each([
    [500, {}],
    [429, {}],
    [401, {}],
    [502, { isDown: true }],
    [503, { isDown: true }],
    [504, { isDown: true }],
  ])('that a %i answers says whether the core is down', async (status, expected) => {
    answer(status, '');
    const { kind, reason: _, ...rest } = (await setService()) as { kind: string; reason: unknown };
    expect([kind, rest]).toEqual(['failed', expected]);
  });

  test('without an answer shows that the core is down', async () => {
    core.answer((response) => response.destroy());
    expect(await setService()).toMatchObject({ kind: 'failed', isDown: true, isUnreached: true });
  });
});

describe('suspend and resume of an eSIM', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    service.startWorker({ ...createMockNetwork({ delayMs: 0 }), ...commands });
  });
  afterAll(() => service.stop());

  function settled(id: string) {
    return until(
      async () => (await call(service, 'GET', `/v1/executions/${id}`)).json,
      ({ status }) => status === 'succeeded' || status === 'failed',
    );
  }

  test('call the core with the same id until it answers, and show its refusal', async () => {
    const { iccid } = await settled((await provision(service)).json.id);
    core.answer((response, _, count) => (count < 3 ? response.destroy() : response.end('{}')));
    const suspended = await settled((await call(service, 'POST', `/v1/esims/${iccid}/suspend`)).json.id);
    expect(suspended).toMatchObject({ status: 'succeeded', attempts: 3 });
    const ids = core.received.map(({ body, headers }) => [JSON.parse(body).id, headers['idempotency-key']]);
    expect(new Set(ids.flat()).size).toBe(1);
    expect(core.received.map(({ body }) => JSON.parse(body).attempt)).toEqual([1, 2, 3]);
    expect((await call(service, 'GET', `/v1/esims/${iccid}`)).json.status).toBe('suspended');

    answer(503, '');
    const exhausted = await settled((await call(service, 'POST', `/v1/esims/${iccid}/resume`)).json.id);
    expect(exhausted).toMatchObject({ status: 'failed', error: { code: 'network_unavailable' } });
    expect(exhausted.error.message).not.toMatch(/order|by itself/);

    answer(409, '{"message": "barred for fraud"}');
    const refused = await settled((await call(service, 'POST', `/v1/esims/${iccid}/resume`)).json.id);
    expect(refused).toMatchObject({
      status: 'failed',
      error: { code: 'state_conflict', upstream: { status: '409', message: 'barred for fraud' } },
    });
    expect((await call(service, 'GET', `/v1/esims/${iccid}`)).json.status).toBe('suspended');
  });

  test.each([
    ['set_service', 'barred'],
    ['suspend_resume', undefined],
  ])('are sent to the core in the settings, with %s', async (commands, state) => {
    const database = await cloneDatabase();
    const server = await spawnServer({
      DATABASE_URL: database.url,
      SIMPLANE_API_KEY: 'sp_test_core_commands_sandbox',
      SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 5).toString('base64'),
      SIMPLANE_MOCK_DELAY: '0ms',
      SIMPLANE_CORE_URL: `${core.url}/commands`,
      SIMPLANE_CORE_SECRET: secret,
      SIMPLANE_CORE_COMMANDS: commands,
    });
    try {
      const target = { url: server.url, key: 'sp_test_core_commands_sandbox' };
      await provision(target);
      const [esim] = await until(
        async () => (await call(target, 'GET', '/v1/esims?status=provisioned')).json.data,
        (data) => data.length === 1,
      );
      await call(target, 'POST', `/v1/esims/${esim.iccid}/suspend`);
      await until(
        async () => (await call(target, 'GET', `/v1/esims/${esim.iccid}`)).json,
        ({ status }) => status === 'suspended',
      );
      const got = core.received.at(-1);
      expect(got?.path).toBe('/commands');
      expect(got?.headers['user-agent']).toMatch(/^Simplane\/\d/);
      const command = state ? { command: 'set_service', state, reason: 'suspended' } : { command: 'suspend' };
      expect(JSON.parse(got?.body ?? '')).toMatchObject({ ...command, iccid: esim.iccid });
      expect(server.output()).not.toContain(secret);
    } finally {
      await server.end('SIGTERM');
      await database.drop();
    }
  });

  test('without a core answer 409 and queue nothing, and the same key works once a core is connected', async () => {
    const { iccid } = await settled((await provision(service)).json.id);
    const { databaseUrl } = service;
    const unconnected = await startService({ mode: 'live', core: 'none', databaseUrl });
    const connected = await startService({ mode: 'live', core: 'commands', databaseUrl });
    try {
      const key = await unconnected.createKey({ accountUuid: service.accountUuid });
      for (const change of ['suspend', 'resume']) {
        const reply = await call(unconnected, 'POST', `/v1/esims/${iccid}/${change}`, {
          key,
          idempotencyKey: `core-${change}`,
        });
        expect([reply.status, reply.json.error.code]).toEqual([409, 'core_not_connected']);
        expect(reply.json.error.message).toMatch(/Ask the operator to connect it/);
      }
      const missing = await call(unconnected, 'POST', '/v1/esims/8999901000000000000/suspend', { key });
      expect(missing.json.error.code).toBe('resource_missing');
      const { json } = await call(unconnected, 'GET', '/v1/executions?limit=100', { key });
      expect(
        json.data.filter(
          (one: { type: string; iccid: string }) => one.type !== 'esim.provision' && one.iccid === iccid,
        ),
      ).toEqual([]);
      const later = await call(connected, 'POST', `/v1/esims/${iccid}/suspend`, {
        key,
        idempotencyKey: 'core-suspend',
      });
      expect(later.status).toBe(202);
    } finally {
      await Promise.all([unconnected.stop(), connected.stop()]);
    }
  });
});

describe('the core in the guide', () => {
  test('has at most 60 lines, keeps the highest version and rejects a state that is unsigned, stale or signed with another secret', async () => {
    const page = await readFile(
      fileURLToPath(new URL('../../../docs/core-commands.md', import.meta.url)),
      'utf8',
    );
    const [, program = ''] = /## A core to copy\n.*?```js\n(.*?)```/s.exec(page) ?? [];
    expect(program.trim().split('\n').length).toBeLessThanOrEqual(60);
    const folder = await mkdtemp(join(tmpdir(), 'simplane-core-'));
    await writeFile(join(folder, 'receiver.mjs'), program);
    const receiver = spawn(process.execPath, [join(folder, 'receiver.mjs')], {
      env: { SIMPLANE_CORE_SECRET: secret, PORT: '0' },
    });
    let output = '';
    receiver.stdout.on('data', (chunk) => {
      output += chunk;
    });
    try {
      const [, url = ''] = await until(
        async () => /listening at (\S+)\n/.exec(output) ?? [],
        (found) => found.length > 0,
      );
      const sentAtSeconds = nowSeconds();
      const send = (version: number, state: string, options: { secret?: string; atSeconds?: number } = {}) =>
        createCoreCommands({
          url,
          secret: options.secret ?? secret,
          userAgent: 'x',
          nowSeconds: () => options.atSeconds ?? sentAtSeconds,
        }).setService({
          id: `${iccid}.${version}`,
          body: JSON.stringify({ iccid, version, state, kbps: 128 }),
          signal: new AbortController().signal,
        });
      expect(await send(1, 'full', { secret: `${secret}x` })).toMatchObject({ kind: 'failed' });
      expect(await send(1, 'full', { atSeconds: sentAtSeconds - 400 })).toMatchObject({ kind: 'failed' });
      const unsigned = await fetch(url, { method: 'POST', body: '{"iccid":"c","version":1}' });
      expect(unsigned.status).toBe(401);
      for (const [version, state] of [
        [2, 'throttled'],
        [2, 'throttled'],
        [1, 'full'],
        [3, 'barred'],
      ] as const) {
        expect(await send(version, state)).toMatchObject({ kind: 'done' });
      }
      await until(
        async () => output.trim().split('\n').slice(1),
        (lines) => lines.join() === `${iccid}: 128 kbit/s,${iccid}: barred`,
      );
    } finally {
      receiver.kill();
      await rm(folder, { recursive: true });
    }
  });
});
