import { execFileSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCoreCommands } from '../../src/network/core/core-commands.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { createNames } from '../../src/notify/webhooks/names/names.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { allAttempts } from '../support/all-deliveries.ts';
import { call, provision } from '../support/client.ts';
import { type Answer, type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let receiver: Receiver;
let dns: DnsServer;
beforeEach(async () => {
  [service, receiver, dns] = await Promise.all([startService(), startReceiver(), startDnsServer()]);
});
afterEach(async () => {
  await service.stop();
  await receiver.stop();
  await dns.stop();
});

type Target = { url: string; key: string };

const port = () => new URL(receiver.url).port;

async function createEndpoint(target: Target, url: string): Promise<string> {
  const body = { url, enabled_event_types: ['*'] };
  const { status, json } = await call(target, 'POST', '/v1/webhook_endpoints', { body });
  expect(status).toBe(201);
  return json.id;
}

async function publish(target: Target): Promise<string> {
  const body = { type: 'esim.provisioned', data: {} };
  return (await call(target, 'POST', '/v1/events/test', { body })).json.id;
}

async function deliveriesOf(target: Target, eventId: string) {
  return (await call(target, 'GET', `/v1/events/${eventId}/deliveries`)).json.data;
}

async function deliver(target: Target): Promise<void> {
  const eventId = await publish(target);
  await until(
    async () => receiver.received,
    (all) => all.some(({ headers }) => headers['webhook-id'] === eventId),
  );
}

async function done(reply: { json: { id: string } }): Promise<{ iccid: string }> {
  const { iccid, status } = await until(
    async () => (await call(service, 'GET', `/v1/executions/${reply.json.id}`)).json,
    ({ status }) => ['succeeded', 'failed'].includes(status),
  );
  expect(status).toBe('succeeded');
  return { iccid };
}

test('100 hanging names of one account delay no other account’s deliveries, orders or core commands', async () => {
  const core = await startReceiver();
  const zone = (name: string): Answer =>
    name.startsWith('hangs') ? 'hang' : name === 'good.example' ? { a: ['127.0.0.1'], ttl: 1 } : 'nxdomain';
  dns.answer(zone);
  const attacker = { url: service.url, key: (await service.createAccount('Attacker')).key };
  service.startSender({
    names: createNames({ servers: [dns.address] }),
    timeoutMs: 15_000,
    concurrency: 1_024,
  });
  const secret = 'a-secret-of-the-tests-and-nobody-else';
  // A name, because its look-up needs one of libuv's threads.
  const url = core.url.replace('127.0.0.1', 'localhost');
  const commands = createCoreCommands({ url, secret, userAgent: 'Simplane/test', nowSeconds: () => 0 });
  service.startWorker({ ...createMockNetwork({ delayMs: 0 }), ...commands });
  await createEndpoint(service, `http://good.example:${port()}/`);

  async function measure(rounds: number): Promise<Record<string, number>> {
    const times: Record<string, number[]> = { delivery: [], order: [], suspend: [] };
    async function timed<T>(kind: string, work: () => Promise<T>): Promise<T> {
      const startedAtMs = performance.now();
      const result = await work();
      times[kind]?.push(performance.now() - startedAtMs);
      return result;
    }
    for (let i = 0; i < rounds; i++) {
      await timed('delivery', () => deliver(service));
      const { iccid } = await timed('order', async () => done(await provision(service)));
      await timed('suspend', async () => done(await call(service, 'POST', `/v1/esims/${iccid}/suspend`)));
    }
    return Object.fromEntries(
      Object.entries(times).map(([kind, all]) => [
        kind,
        all.toSorted((a, b) => a - b)[rounds >> 1] as number,
      ]),
    );
  }

  const before = await measure(5);
  for (let i = 0; i < 100; i++) await createEndpoint(attacker, `http://hangs-${i}.example/`);
  const attack = await publish(attacker);
  const hanging = () => new Set(dns.questions.filter((one) => one.startsWith('A hangs')));
  await until(
    async () => hanging().size,
    (asked) => asked >= 16,
  );
  const during = await measure(9);
  for (const [kind, ms] of Object.entries(during)) {
    expect([kind, ms < Math.max(10 * (before[kind] as number), 2_000)]).toEqual([kind, true]);
  }
  expect(dns.questions.filter((one) => one === 'A good.example').length).toBeGreaterThan(1);

  // The hanging names are still tried, and fail because of their own servers.
  const failed = await until(
    () => deliveriesOf(attacker, attack),
    (rows) => rows.some((row: { attempts: unknown[] }) => row.attempts.length > 0),
  );
  for (const { attempts } of failed) {
    for (const { error } of attempts) expect(error).toBe('host name look-up timed out');
  }
  const sent = await service.db.query<{ error: string | null }>(
    {
      name: 'test_errors',
      text: `select error from ${allAttempts} a where account_id = $1 and error is not null`,
    },
    [service.accountUuid],
  );
  expect(sent).toEqual([]);
  await core.stop();
});

test('webhook host names are resolved while libuv’s thread pool is full', async () => {
  dns.answer((name) => (name === 'good.example' ? { a: ['127.0.0.1'] } : 'nxdomain'));
  service.startSender({ names: createNames({ servers: [dns.address] }) });
  await createEndpoint(service, `http://good.example:${port()}/`);
  const folder = mkdtempSync(join(tmpdir(), 'pool-'));
  const pipe = join(folder, 'pipe');
  execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', pipe]);
  // Opening a pipe for reading blocks a thread until another process opens it for writing.
  const readers = Array.from({ length: 4 }, () => open(pipe, 'r'));
  let isLookedUp = false;
  const lookedUp = lookup('localhost').then(() => {
    isLookedUp = true;
  });
  try {
    await deliver(service);
    expect(isLookedUp).toBe(false);
  } finally {
    const writer = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    for (const file of await Promise.all(readers)) await file.close();
    closeSync(writer);
    await lookedUp;
    rmSync(folder, { recursive: true });
  }
});

test('while our DNS servers do not answer no attempt is counted; once they do, everything is sent', async () => {
  dns.answer(() => 'hang');
  const names = createNames({ servers: [dns.address], timeoutMs: 300 });
  service.startSender({ names, disableRule: { afterMs: 0, minFailures: 1 } });
  const id = await createEndpoint(service, `http://good.example:${port()}/`);
  const eventId = await publish(service);
  await until(
    async () => service.logLines.filter((line) => line.includes('no DNS server answers')).length,
    (count) => count > 0,
  );
  // A second probe shows that the delivery was released and claimed again.
  const probes = () => dns.questions.filter((one) => one === 'NS ').length;
  await until(
    async () => probes(),
    (count) => count >= 2,
  );
  expect(await deliveriesOf(service, eventId)).toMatchObject([{ status: 'pending', attempt_count: 0 }]);
  dns.answer((name) => (name === 'good.example' ? { a: ['127.0.0.1'] } : 'nxdomain'));
  await until(
    () => deliveriesOf(service, eventId),
    ([row]) => row.status === 'succeeded',
  );
  expect(await deliveriesOf(service, eventId)).toMatchObject([{ attempt_count: 1 }]);
  const [endpoint] = await service.db.query<{ failing_since: Date | null }>(
    { name: 'test_health', text: 'select failing_since from webhook_endpoints where id = $1' },
    [uuidOfId('we', id)],
  );
  expect(endpoint).toEqual({ failing_since: null });
});
