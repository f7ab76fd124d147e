import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startBrokenReceivers } from '../support/broken-receivers.ts';
import type { Deployment } from '../support/deployment.ts';
import { median, type Result, round } from '../support/scenario.ts';

const hangingCount = 900;
const rounds = 5;
const boundMs = 2_000;
const timeoutMs = 60_000;
// Long enough for a sender without fairness to give every connection to the hanging account.
const headStartMs = 15_000;

/** Otherwise the sandbox would disable hanging endpoints after 30 s. The attempt timeout stays 15 s. */
export const firstEventSettings = { SIMPLANE_WEBHOOK_DISABLE_AFTER: '1h' };

/** Latency of a new endpoint's first event while 900 endpoints of another account hang. */
export async function firstEvent(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const receiver = await startReceiver();
  const others = await startBrokenReceivers({ hanging: hangingCount, dead: 0 });
  const db = new pg.Client({ connectionString: deployment.databaseUrl });
  await db.connect();
  try {
    await post(deployment, '/v1/webhook_endpoints', {
      url: `${receiver.url}warm-up`,
      enabled_event_types: ['bench.warm_up'],
    });
    await storeHanging(db, others.ports.hanging);
    progress(`${hangingCount} endpoints of another account start hanging`);
    await sleep(headStartMs);
    const times: number[] = [];
    for (let i = 1; i <= rounds; i++) {
      times.push(await timeFirstEvent(deployment, receiver, i));
      progress(`round ${i} of ${rounds}: ${round(times.at(-1) as number)} ms`);
      await sleep(2_000);
    }
    const attempts = await db.query<{ count: number }>(
      `select count(*)::int as count from webhook_endpoints where failure_count > 0`,
    );
    // The result means nothing if the sender never tried the hanging endpoints.
    if (attempts.rows[0]?.count === 0) throw new Error('the sender tried none of the hanging endpoints');
    const slowest = Math.max(...times);
    return {
      value: round(slowest),
      unit: 'ms, slowest',
      ceiling: boundMs,
      ratio: round(slowest / boundMs),
      goal: '≤ 1',
      p50_ms: round(median(times)),
      rounds,
    };
  } finally {
    await db.end();
    others.stop();
    receiver.stop();
  }
}

async function timeFirstEvent(deployment: Deployment, receiver: Receiver, n: number): Promise<number> {
  const type = `bench.first_${n}`;
  await post(deployment, '/v1/webhook_endpoints', {
    url: `${receiver.url}${n}`,
    enabled_event_types: [type],
  });
  const startedAtMs = performance.now();
  const received = receiver.next(`/${n}`);
  await post(deployment, '/v1/events/test', { type, data: {} });
  // A missing event counts as received at the timeout.
  await Promise.race([received, sleep(timeoutMs, undefined, { ref: false })]);
  return performance.now() - startedAtMs;
}

type Receiver = { url: string; next(path: string): Promise<void>; stop(): void };

async function startReceiver(): Promise<Receiver> {
  const waiting = new Map<string, () => void>();
  const server = createServer((request, response) => {
    waiting.get(request.url ?? '')?.();
    request.resume().once('end', () => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    next: (path) => new Promise((resolve) => waiting.set(path, resolve)),
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function post({ url, key }: Deployment, path: string, body: object): Promise<void> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text}`);
}

/** Inserts endpoints of another account, each with due deliveries. */
async function storeHanging(db: pg.Client, ports: number[]): Promise<void> {
  await db.query(
    `insert into accounts (id, name, api_version, created_at)
     select gen_random_uuid(), 'Another', api_version, now() from accounts limit 1`,
  );
  await db.query(
    `insert into webhook_endpoints (account_id, id, url, enabled_event_types, metadata, status, api_version, created_at)
     select a.id, uuid_v7(now()), 'http://127.0.0.1:' || port || '/', array['bench.stored'], '{}', 'enabled', a.api_version, now()
     from unnest($1::integer[]) as given (port), accounts a where a.name = 'Another'`,
    [ports],
  );
  await db.query(
    `with event as (
       insert into events (account_id, id, type, created_at, body)
       select a.id, uuid_v7(now()), 'bench.stored', now(), '{"type":"bench.stored","object":"event","data":{}}'
       from accounts a, generate_series(1, 5) where a.name = 'Another' returning account_id, id)
     insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
     select e.account_id, uuid_v7(now()), event.id, e.id, 'event', now()
     from webhook_endpoints e join event using (account_id)`,
  );
  // Do not leave this to autovacuum during the measurement.
  await db.query('vacuum (analyze) webhook_endpoints, events, delivery_queue');
}
