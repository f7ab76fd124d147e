import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.ts';
import { createSignals, type Signals } from '../../src/platform/db/signals.ts';
import { call } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// The fifth failure pauses the endpoint for 4 s; the retry after it is a minute away.
const retryScheduleMs = [1, 1, 1, 1, 60_000];
const failures = retryScheduleMs.length;
const promptMs = 2_500;

let service: TestService;
let receiver: Receiver;
beforeEach(async () => {
  service = await startService();
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.stop();
  await service.stop();
});

async function createEndpoint(): Promise<string> {
  const body = { url: `${receiver.url}/hook`, enabled_event_types: ['*'] };
  return (await call(service, 'POST', '/v1/webhook_endpoints', { body })).json.id;
}

async function publish(type = 'esim.provisioned'): Promise<string> {
  return (await call(service, 'POST', '/v1/events/test', { body: { type, data: {} } })).json.id;
}

async function deliveryOf(eventId: string) {
  return (await call(service, 'GET', `/v1/events/${eventId}/deliveries`)).json.data[0];
}

async function post(path: string): Promise<void> {
  expect((await call(service, 'POST', path)).status).toBeLessThan(300);
}

function receivedTypes(): string[] {
  return receiver.received.map(({ body }) => JSON.parse(body).type);
}

function receivedCount(count: number): Promise<number> {
  return until(
    async () => receiver.received.length,
    (seen) => seen >= count,
  );
}

/** Publishes an event whose attempts fail until the endpoint is paused for 4 s. */
async function failUntilPaused(): Promise<string> {
  receiver.answer((response, _, count) => {
    response.statusCode = count <= failures ? 500 : 200;
    response.end();
  });
  const eventId = await publish();
  const stored = await until(
    () => deliveryOf(eventId),
    ({ attempt_count }) => attempt_count === failures,
  );
  return stored.id;
}

/** How long the next request takes to arrive after the action starts. */
async function arrivalMs(action: () => Promise<unknown>): Promise<number> {
  const before = receiver.received.length;
  const startedAtMs = performance.now();
  await action();
  await receivedCount(before + 1);
  return (receiver.received[before]?.atMs ?? Number.NaN) - startedAtMs;
}

test('an explicit retry does not wait for the pause after failures', async () => {
  service.startSender({ retryScheduleMs });
  await createEndpoint();
  const deliveryId = await failUntilPaused();
  expect(await arrivalMs(() => post(`/v1/deliveries/${deliveryId}/retry`))).toBeLessThan(promptMs);
});

test('an explicit retry waits neither for a hanging attempt nor for deliveries queued before it, which follow', async () => {
  service.startSender({ timeoutMs: 60_000 });
  await createEndpoint();
  const answers: (() => void)[] = [];
  receiver.answer((response) => void answers.push(() => response.end()));
  await publish('esim.provisioned');
  await receivedCount(1);
  await publish('esim.suspended');
  const last = await publish('esim.resumed');
  await post(`/v1/deliveries/${(await deliveryOf(last)).id}/retry`);
  await receivedCount(2);
  expect(receivedTypes()).toEqual(['esim.provisioned', 'esim.resumed']);
  for (const answer of answers) answer();
  await receivedCount(3);
  expect(receivedTypes().slice(2)).toEqual(['esim.suspended']);
});

test('a delivery that is being sent is not sent again by an explicit retry', async () => {
  const sender = service.startSender({ timeoutMs: 60_000 });
  await createEndpoint();
  const answers: (() => void)[] = [];
  receiver.answer((response) => void answers.push(() => response.end()));
  const sent = await publish('esim.provisioned');
  await receivedCount(1);
  const other = await publish('esim.suspended');
  for (const eventId of [sent, other]) await post(`/v1/deliveries/${(await deliveryOf(eventId)).id}/retry`);
  await receivedCount(2); // the second retry was taken after the first
  for (const answer of answers) answer();
  await sender.stop(30_000);
  expect(receivedTypes()).toEqual(['esim.provisioned', 'esim.suspended']);
});

test.each([
  ['POST', 'enable', undefined],
  ['PATCH', '', { status: 'enabled' }],
])(
  'the first event after an endpoint is enabled (%s %s) does not wait for the pause',
  async (method, verb, body) => {
    service.startSender({ retryScheduleMs });
    const path = `/v1/webhook_endpoints/${await createEndpoint()}`;
    await failUntilPaused();
    const arrival = await arrivalMs(async () => {
      await call(service, 'PATCH', path, { body: { status: 'disabled' } });
      const enabled = await call(service, method, verb === '' ? path : `${path}/${verb}`, {
        ...(body && { body }),
      });
      expect(enabled.json.status).toBe('enabled');
      await publish('esim.suspended');
    });
    expect(arrival).toBeLessThan(promptMs);
    expect(receivedTypes().at(-1)).toBe('esim.suspended');
  },
);

test.each(['retry', 'enable'])('%s reaches the sender in another process', async (action) => {
  const databases = [0, 1].map(() =>
    openDatabase({ connectionString: service.databaseUrl, poolSize: 2, onError: () => {} }),
  );
  const [ours, theirs] = databases.map((db) =>
    createSignals({ db, connectionString: service.databaseUrl, onError: () => {} }),
  ) as [Signals, Signals];
  service.service.signals.announce = ours.announce; // it has no listener: only NOTIFY reaches the sender
  try {
    theirs.on('deliveries', service.startSender({ retryScheduleMs }).wake);
    const endpoint = await createEndpoint();
    const deliveryId = await failUntilPaused();
    const arrival = await arrivalMs(async () => {
      if (action === 'retry') return post(`/v1/deliveries/${deliveryId}/retry`);
      await post(`/v1/webhook_endpoints/${endpoint}/enable`);
      await publish();
    });
    expect(arrival).toBeLessThan(promptMs);
  } finally {
    await ours.stop();
    await theirs.stop();
    for (const db of databases) await db.end();
  }
});

test('a process hears of all work while it listens and knows of no other one', async () => {
  const db = openDatabase({ connectionString: service.databaseUrl, poolSize: 4, onError: () => {} });
  const open = (connectionString: string | null) =>
    createSignals({ db, connectionString, onError: () => {} });
  const [ours, behindPooler, late] = [open(service.databaseUrl), open(null), open(service.databaseUrl)];
  try {
    for (const signals of [ours, behindPooler]) {
      signals.on('executions', () => {});
      expect(signals.hearsAll()).toBe(false);
      signals.setAlone(true);
    }
    // Its own greeting counts as another's for a while: nothing tells them apart.
    await expect.poll(ours.hearsAll).toBe(true);
    expect(behindPooler.hearsAll()).toBe(false);
    ours.setAlone(false);
    expect(ours.hearsAll()).toBe(false);
    ours.setAlone(true);
    expect(ours.hearsAll()).toBe(true);
    late.on('executions', () => {});
    await expect.poll(ours.hearsAll, { timeout: 60_000 }).toBe(false);
  } finally {
    for (const signals of [ours, behindPooler, late]) await signals.stop();
    await db.end();
  }
});

test('a process that took itself for the only one notifies another as soon as that one listens', async () => {
  const db = openDatabase({ connectionString: service.databaseUrl, poolSize: 4, onError: () => {} });
  const open = () => createSignals({ db, connectionString: service.databaseUrl, onError: () => {} });
  const [alone, late] = [open(), open()];
  try {
    let own = 0;
    alone.on('feed', () => void own++);
    const heard: unknown[] = [];
    late.on('feed', (subject) => void heard.push(subject));
    await expect
      .poll(() => {
        alone.setAlone(true); // as by a heartbeat that has not seen the other one yet
        alone.announce('feed', 'a');
        return heard.length;
      })
      .toBeGreaterThan(0);
    expect(heard[0]).toBe('a');
    expect(own).toBeGreaterThan(0);
  } finally {
    await alone.stop();
    await late.stop();
    await db.end();
  }
});

test('a process checks its LISTEN connection often beside others, and rarely while alone', async () => {
  const db = openDatabase({ connectionString: service.databaseUrl, poolSize: 4, onError: () => {} });
  const open = (purpose: 'signals' | 'readers') =>
    createSignals({ db, connectionString: service.databaseUrl, purpose, onError: () => {} });
  const [alone, beside] = [open('signals'), open('readers')];
  const watcher = new pg.Client({ connectionString: service.databaseUrl });
  await watcher.connect();
  try {
    for (const signals of [alone, beside]) signals.on('executions', () => {});
    alone.setAlone(true);
    await expect.poll(alone.hearsAll).toBe(true);
    const checks = { signals: new Set<number>(), readers: new Set<number>() };
    await until(
      async () => {
        const { rows } =
          await watcher.query(`select split_part(application_name, ' ', 2) as purpose, query_start
          from pg_stat_activity where datname = current_database() and application_name ~ ' (signals|readers)$'`);
        for (const { purpose, query_start } of rows)
          checks[purpose as keyof typeof checks].add(query_start.getTime());
        return checks.readers.size;
      },
      (often) => often > 4,
    );
    // The rest before its second check began while it knew of another process. A slow machine makes rests longer, never shorter.
    const [, ...startsMs] = [...checks.signals].sort((one, other) => one - other);
    const restsMs = startsMs.slice(1).map((startMs, index) => startMs - (startsMs[index] ?? 0));
    expect(restsMs.filter((ms) => ms < 9_000)).toEqual([]);
  } finally {
    for (const signals of [alone, beside]) await signals.stop();
    await watcher.end();
    await db.end();
  }
});
