import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Target } from './deployment.ts';
import type { Receiver } from './load.ts';

export const maxInFlight = 64; // the sender's limit per endpoint

export type Backlog = {
  /** Deliveries a second, from the commit of the backlog until every result is written. */
  deliver(count: number): Promise<number>;
  /** The same in steps: inserts events, then their deliveries, sends until every result is written, then vacuums. Without sending: `storeDeliveries`. */
  storeEvents(count: number): Promise<void>;
  storeAndSendDeliveries(count: number): Promise<number>;
  storeDeliveries(): Promise<void>;
  vacuum(): Promise<void>;
  stop(): Promise<void>;
};

/** Creates an endpoint at the receiver; the returned functions give the sender many events for it at once. */
export async function prepareBacklog(target: Target, receiver: Receiver): Promise<Backlog> {
  await createEndpoint(target, receiver.url, ['bench.stored']);
  const db = new pg.Client({ connectionString: target.databaseUrl });
  await db.connect();
  await db.query('set enable_seqscan = off'); // polling for completion must not scan the table
  const backlog: Backlog = {
    async deliver(count) {
      await backlog.storeEvents(count);
      const rate = await backlog.storeAndSendDeliveries(count);
      await backlog.vacuum();
      return rate;
    },
    async storeEvents(count) {
      await db.query('create temporary table if not exists stored (account_id uuid, id uuid)');
      await db.query('truncate stored');
      await db.query(insertEvents, [count]);
    },
    async storeDeliveries() {
      await receiver.reset();
      await db.query('begin');
      await db.query(insertDeliveries);
      await db.query(`select pg_notify('simplane', 'deliveries ' || id) from accounts`);
      await db.query('commit');
    },
    async storeAndSendDeliveries(count) {
      await backlog.storeDeliveries();
      const startedAtMs = performance.now();
      await receiver.expect(count);
      while ((await db.query(`select from delivery_queue limit 1`)).rows.length > 0) {
        await sleep(1);
      }
      return (count / (performance.now() - startedAtMs)) * 1_000;
    },
    async vacuum() {
      await db.query('vacuum delivery_queue, deliveries, endpoint_leases, events');
    },
    stop: () => db.end(),
  };
  return backlog;
}

const insertEvents = `
with event as (
  insert into events (account_id, id, type, created_at, body)
  select account_id, uuid_v7(now()), 'bench.stored', now(),
         '{"id":"evt_01k9zzzzzzzzzzzzzzzzzzzzzz","type":"esim.provisioned","object":"event","created":1800000000,"data":{"iccid":"89999010000000000000","execution_id":"exec_01k9zzzzzzzzzzzzzzzzzzzzzz","product_id":"prod_europe_5gb_30d"}}'
  from webhook_endpoints, generate_series(1, $1)
  where enabled_event_types = '{bench.stored}'
  returning account_id, id
)
insert into stored select account_id, id from event`;

// The same ids as in `events/emit`.
const insertDeliveries = `
insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
select stored.account_id, overlay(gen_random_uuid()::text placing left(stored.id::text, 18) from 1 for 18)::uuid,
       stored.id, endpoint.id, 'event', now()
from stored join webhook_endpoints endpoint
  on endpoint.account_id = stored.account_id and endpoint.enabled_event_types = '{bench.stored}'
order by stored.id`;

export async function createEndpoint(
  { url, key }: Target,
  receiverUrl: string,
  types: string[],
): Promise<void> {
  const response = await fetch(`${url}/v1/webhook_endpoints`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: receiverUrl, enabled_event_types: types }),
  });
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
}
