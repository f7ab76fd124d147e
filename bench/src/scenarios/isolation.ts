import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyring } from '@simplane/server/keyring';
import { signingSecretPlace } from '@simplane/server/sealed-places';
import pg from 'pg';
import { type Ports, startBrokenReceivers } from '../support/broken-receivers.ts';
import type { Deployment } from '../support/deployment.ts';
import { median, percentile, type Result, round } from '../support/scenario.ts';

const eventsPerSecond = 50;
const roundMs = 6_000;
const rounds = 5;
const timeoutMs = 5_000;
const brokenCount = 1_000;
const backlogEach = 20;
const subscribedCount = 10;

/** Otherwise the sandbox would disable failing endpoints after 30 s, and hanging attempts would outlast a round. */
export const isolationSettings = {
  SIMPLANE_WEBHOOK_DISABLE_AFTER: '1h',
  SIMPLANE_WEBHOOK_TIMEOUT: '3s',
};

/**
 * Latency to a healthy endpoint while 1,000 others are dead or hang, compared to the healthy endpoint alone. Half of the
 * broken ones belong to the same account, and a few subscribe to the measured events. Each round creates new ones, which
 * the sender has never seen.
 */
export async function isolation(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const settings = Object.entries(isolationSettings).map((pair) => pair.join('='));
  progress(`${brokenCount} broken endpoints with ${backlogEach} pending each; ${settings.join(', ')}`);
  const receiver = await startReceiver();
  const others = await startBrokenReceivers({ hanging: brokenCount / 2, dead: brokenCount / 2 });
  const db = new pg.Client({ connectionString: deployment.databaseUrl });
  await db.connect();
  try {
    const healthy = await createEndpoint(deployment, receiver.url);
    const measure = (ms: number) => measureLatencies(deployment, receiver, ms);
    progress('warming up');
    await measure(3_000);
    const pairs = [];
    for (let i = 1; i <= rounds; i++) {
      const alone = await measure(roundMs);
      await storeBroken(db, healthy, others.ports, deployment.encryptionKey);
      await enableBroken(db, healthy);
      const withBroken = await measure(roundMs);
      const attempts = await disableBroken(db, healthy);
      others.cut();
      await sleep(1_000);
      await removeBroken(db, healthy);
      // The result means nothing if the sender never tried the broken endpoints.
      if (attempts === 0) throw new Error('the sender tried none of the broken endpoints');
      pairs.push({ alone, withBroken });
      const [a, b] = [alone, withBroken].map((one) => `p50 ${round(one.p50)} p99 ${round(one.p99)} ms`);
      progress(`round ${i} of ${rounds}: alone ${a}, with broken ${b}; ${attempts} attempts at broken ones`);
    }
    return summarize(pairs);
  } finally {
    await db.end();
    others.stop();
    receiver.stop();
  }
}

type Latencies = { p50: number; p99: number };

function summarize(pairs: { alone: Latencies; withBroken: Latencies }[]): Result {
  const value = median(pairs.map(({ withBroken }) => withBroken.p99));
  const ceiling = median(pairs.map(({ alone }) => alone.p99));
  return {
    value: round(value),
    unit: 'ms p99',
    ceiling: round(ceiling),
    ratio: round(value / ceiling),
    goal: '≤ 1.5',
    p50_ms: round(median(pairs.map(({ withBroken }) => withBroken.p50))),
    p99_ms: round(value),
    rounds: pairs.length,
  };
}

type Receiver = { url: string; onReceipt: (n: number) => void; stop(): void };

/** Answers at once and reports the received event. */
async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.once('end', () => {
      receiver.onReceipt((JSON.parse(body) as { data: { n: number } }).data.n);
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    onReceipt: () => {},
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
  return receiver;
}

type Endpoint = { account_id: string; id: string };

async function createEndpoint({ url, key }: Deployment, receiverUrl: string): Promise<string> {
  const response = await fetch(`${url}/v1/webhook_endpoints`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: receiverUrl, enabled_event_types: ['bench.measured'] }),
  });
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
  return receiverUrl;
}

/** Sends at a steady rate, without waiting for responses, and measures each event from sending to receipt. */
async function measureLatencies(
  deployment: Deployment,
  receiver: Receiver,
  forMs: number,
): Promise<Latencies> {
  const count = (forMs / 1_000) * eventsPerSecond;
  const sentAtMs: number[] = [];
  const latencies = new Map<number, number>();
  receiver.onReceipt = (n) => {
    const at = sentAtMs[n];
    if (at !== undefined && !latencies.has(n)) latencies.set(n, performance.now() - at);
  };
  const startedAtMs = performance.now();
  const answers: Promise<void>[] = [];
  for (let n = 0; n < count; n++) {
    await sleep(Math.max(0, startedAtMs + (n * 1_000) / eventsPerSecond - performance.now()));
    sentAtMs.push(performance.now());
    answers.push(sendEvent(deployment, n));
  }
  await Promise.all(answers);
  for (let waitedMs = 0; latencies.size < count && waitedMs < timeoutMs; waitedMs += 50) await sleep(50);
  // A missing event counts as received now.
  for (let n = 0; n < count; n++) receiver.onReceipt(n);
  const sorted = [...latencies.values()].sort((a, b) => a - b);
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
}

async function sendEvent({ url, key }: Deployment, n: number): Promise<void> {
  const response = await fetch(`${url}/v1/events/test`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ type: 'bench.measured', data: { n } }),
  });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`${response.status}: ${text}`);
}

/** Inserts the broken endpoints as disabled, so storing them is not measured. */
async function storeBroken(
  db: pg.Client,
  healthyUrl: string,
  ports: Ports,
  encryptionKey: Buffer,
): Promise<void> {
  const { rows } = await db.query<Endpoint>('select account_id, id from webhook_endpoints where url = $1', [
    healthyUrl,
  ]);
  const [healthy] = rows as [Endpoint];
  await db.query(
    `insert into accounts (id, name, api_version, created_at)
     select gen_random_uuid(), 'Another', api_version, now() from accounts where id = $1
       and not exists (select from accounts where name = 'Another')`,
    [healthy.account_id],
  );
  // Dead and hanging ones alternate; the two accounts alternate pair by pair.
  const urls = ports.dead.flatMap((dead, i) => [dead, ports.hanging[i]]);
  await db.query(
    `insert into webhook_endpoints (account_id, id, url, enabled_event_types, metadata, status, api_version, created_at)
     select case when n % 4 < 2 then $1 else other.id end, uuid_v7(now()), 'http://127.0.0.1:' || port || '/',
            array[case when n % 4 < 2 and n <= $3 * 2 then 'bench.measured' else 'bench.stored' end], '{}', 'disabled',
            other.api_version, now()
     from unnest($2::integer[]) with ordinality as given (port, n), accounts other where other.name = 'Another'`,
    [healthy.account_id, urls, subscribedCount],
  );
  await storeSecrets(db, healthy, encryptionKey);
  await db.query(
    `with event as (
       insert into events (account_id, id, type, created_at, body)
       select a.id, uuid_v7(now()), 'bench.stored', now(), '{"type":"bench.stored","object":"event","data":{}}'
       from accounts a, generate_series(1, $2) returning account_id, id)
     insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
     select e.account_id, uuid_v7(now()), event.id, e.id, 'event', now()
     from webhook_endpoints e join event using (account_id) where e.id <> $1`,
    [healthy.id, backlogEach],
  );
  // Do not leave this to autovacuum during the measurement.
  await db.query('vacuum (analyze) webhook_endpoints, webhook_secrets, events, delivery_queue');
}

/** One per endpoint, because a sealed secret is bound to its endpoint. */
async function storeSecrets(db: pg.Client, healthy: Endpoint, encryptionKey: Buffer): Promise<void> {
  const { rows } = await db.query<Endpoint & { secret_id: string }>(
    'select account_id, id, uuid_v7(now()) as secret_id from webhook_endpoints where id <> $1',
    [healthy.id],
  );
  const keyring = createKeyring([encryptionKey]);
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  await db.query(
    `insert into webhook_secrets (account_id, endpoint_id, id, sealed, created_at)
     select account_id, endpoint_id, id, sealed, now()
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) as given (account_id, endpoint_id, id, sealed)`,
    [
      rows.map((row) => row.account_id),
      rows.map((row) => row.id),
      rows.map((row) => row.secret_id),
      rows.map((row) => keyring.seal(secret, signingSecretPlace(row.account_id, row.id, row.secret_id))),
    ],
  );
}

async function enableBroken(db: pg.Client, healthyUrl: string): Promise<void> {
  await db.query(`update webhook_endpoints set status = 'enabled' where url <> $1`, [healthyUrl]);
}

/** Returns the number of failed attempts, which proves that the sender tried them. */
async function disableBroken(db: pg.Client, healthyUrl: string): Promise<number> {
  const { rows } = await db.query<{ failure_count: number }>(
    `update webhook_endpoints set status = 'disabled' where url <> $1 returning failure_count`,
    [healthyUrl],
  );
  return rows.reduce((sum, row) => sum + row.failure_count, 0);
}

/** Call only when none of their deliveries is in flight. */
async function removeBroken(db: pg.Client, healthyUrl: string): Promise<void> {
  await db.query(
    `delete from delivery_queue q using webhook_endpoints e where e.url <> $1 and q.endpoint_id = e.id`,
    [healthyUrl],
  );
  await db.query('delete from webhook_endpoints where url <> $1', [healthyUrl]);
}
