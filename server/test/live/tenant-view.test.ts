import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRunners } from '../../src/background/execution-runners.ts';
import { createCoreCommands } from '../../src/network/core/core-commands.ts';
import { createEs2Client } from '../../src/network/es2plus/client.ts';
import type { Network } from '../../src/network/port.ts';
import { createAuthority } from '../support/certificates.ts';
import { call, provision, type Reply } from '../support/client.ts';
import type { Mischief } from '../support/fake-smdp.ts';
import { startService, type TestService } from '../support/service.ts';
import { type createTls, type SmdpSetup, startSmdpSetup } from '../support/smdp-setup.ts';
import { until } from '../support/until.ts';

let setup: SmdpSetup;
let service: TestService;
/** The network of the order that runs. */
let network: Network;

/** Everything that the account was told. */
const told: string[] = [];

beforeAll(async () => {
  setup = await startSmdpSetup({}, { iccids: 'theirs', undoneStatuses: new Set([503]) });
  service = await startService({ mode: 'live' });
  network = setup.network;
  service.startWorker(currentNetwork(), { retryScheduleMs: [100], networkTimeoutMs: 1_000 });
});
afterAll(async () => {
  await service.stop();
  await setup.stop();
});

function currentNetwork(): Network {
  const names = ['order', 'confirm', 'release', 'cancel', 'suspend', 'resume'] as const;
  const calls = names.map((name) => [name, (wanted: never) => network[name](wanted)]);
  return { iccids: 'theirs', forgetsCalls: true, ...Object.fromEntries(calls) };
}

async function get(path: string) {
  const { text, json } = await call(service, 'GET', path);
  told.push(text);
  return json;
}

/** The execution's end. What it answers meanwhile is recorded too. */
async function ended({ text, json }: Reply) {
  told.push(text);
  const look = () => get(`/v1/executions/${json.id}`);
  return until(look, ({ status }) => status === 'failed' || status === 'succeeded');
}

/** Hosts and ports of the operator's systems, names of settings, and codes of the system. Our own URL is the account's to know. */
const operators = /127\.0\.0\.1|localhost|SIMPLANE_|DATABASE_URL|:\d{4,5}\b|\bE[A-Z_]{6,}\b|\bworker\b/;

function expectNothingOfTheOperator(): void {
  const leaks = told
    .flatMap((text) => text.replaceAll(service.url, '').match(/"(?:[^"\\]|\\.)*"/g) ?? [])
    .filter((text) => operators.test(text));
  expect(leaks).toEqual([]);
}

function withClient(tls: ReturnType<typeof createTls>['client'], port: number): Network {
  const url = `https://127.0.0.1:${port}`;
  const client = createEs2Client({ url, tls, protocolVersion: '2.2.0', connectTimeoutMs: 500 });
  return setup.networkWith({ client });
}

function misbehaving(mischief: Mischief): () => Network {
  return () => {
    setup.smdp.onCall(({ name }) => (name === 'downloadOrder' ? mischief : undefined));
    return setup.network;
  };
}

const stranger = createAuthority('Stranger').issue({ name: 'stranger' });

// Which of the two depends on when a connection breaks.
const unusable = /^(network_unavailable|outcome_unknown)$/;

test.each<[string, () => Network, RegExp]>([
  [
    'does not trust our certificate',
    () => withClient({ ...stranger, ca: setup.tls.authority.pem }, setup.smdp.port),
    unusable,
  ],
  ['answers HTTP 301', misbehaving({ status: 301, isDone: false }), unusable],
  ['answers HTTP 403', misbehaving({ status: 403, isDone: false }), unusable],
  ['answers HTTP 404', misbehaving({ status: 404, isDone: false }), unusable],
  ['answers HTTP 503', misbehaving({ status: 503, isDone: false }), unusable],
  ['answers HTTP 500', misbehaving({ status: 500, isDone: true }), unusable],
  ['loses the answer', misbehaving('lose'), unusable],
  ['hangs', misbehaving('hang'), unusable],
  ['answers with a page', misbehaving('html'), unusable],
  ['answers too much', misbehaving('huge'), unusable],
  ['answers nonsense', misbehaving({ answer: { header: {} } }), unusable],
  ['refuses', misbehaving({ code: '8.2.5/3.7' }), /^out_of_stock$/],
])('an account learns nothing of the operator if the SM-DP+ %s', async (_, prepare, code) => {
  network = prepare();
  const { error } = await ended(await provision(service));
  expect(error.code).toMatch(code);
  expectNothingOfTheOperator();
  expect(JSON.stringify(setup.troubles)).toContain(`127.0.0.1:`);
});

test.each<[string, () => Network]>([
  ['is down', () => withClient(setup.tls.client, 1)],
  [
    'has a certificate that we do not trust',
    () => withClient({ ...setup.tls.client, ca: null }, setup.smdp.port),
  ],
])('an account whose order waits learns nothing of the operator if the SM-DP+ %s', async (_, prepare) => {
  network = prepare();
  const { json } = await provision(service);
  const known = setup.troubles.length;
  const look = () => get(`/v1/executions/${json.id}`);
  await until(look, () => setup.troubles.length > known);
  const cancel = () => call(service, 'POST', `/v1/executions/${json.id}/cancel`);
  told.push((await until(cancel, ({ status }) => status === 200)).text);
  expectNothingOfTheOperator();
  expect(JSON.stringify(setup.troubles)).toContain(`127.0.0.1:`);
});

test('an account learns nothing of the operator if the core is not connected or not reachable', async () => {
  setup.smdp.onCall(() => undefined);
  network = setup.network;
  const { iccid } = await ended(await provision(service));
  const url = 'http://127.0.0.1:1/commands';
  for (const core of [
    { url: null, secret: null },
    { url, secret: 's'.repeat(32) },
  ]) {
    const troubles: object[] = [];
    const onTrouble = (details: object) => void troubles.push(details);
    network = {
      ...setup.network,
      ...createCoreCommands({ ...core, userAgent: 'x', nowSeconds: () => 0, onTrouble }),
    };
    const { error } = await ended(await call(service, 'POST', `/v1/esims/${iccid}/suspend`));
    expect(error.code).toBe('network_unavailable');
    expect(JSON.stringify(troubles)).toMatch(/SIMPLANE_CORE_URL|127\.0\.0\.1:1"/);
  }
  const unconnected = await startService({ mode: 'live', core: 'none', databaseUrl: service.databaseUrl });
  const key = await unconnected.createKey({ accountUuid: service.accountUuid });
  const refused = await call(unconnected, 'POST', `/v1/esims/${iccid}/suspend`, { key });
  expect(refused.json.error.code).toBe('core_not_connected');
  told.push(refused.text.replaceAll(unconnected.url, ''));
  await unconnected.stop();
  expectNothingOfTheOperator();
});

test('the account’s lists of executions, eSIMs and events contain nothing of the operator either', async () => {
  for (const path of ['executions', 'esims', 'events']) {
    expect((await get(`/v1/${path}?limit=100`)).data).not.toEqual([]);
  }
  expectNothingOfTheOperator();
});

test('an account learns nothing of the operator if the ICCID ranges are used up', async () => {
  const empty = await startService({ mode: 'live' });
  empty.startWorker(setup.networkWith({ iccids: 'ours' }), {
    runners: createRunners([{ first: '898830300000000000', size: 0 }]),
  });
  const { json } = await provision(empty);
  const { error } = await until(
    async () => (await call(empty, 'GET', `/v1/executions/${json.id}`)).json,
    ({ status }) => status === 'failed',
  );
  expect(error.code).toBe('out_of_stock');
  expect(error.message).not.toMatch(operators);
  await empty.stop();
});
