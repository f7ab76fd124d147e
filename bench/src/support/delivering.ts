import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Target } from './deployment.ts';
import type { Receiver } from './load.ts';

export const maxInFlight = 64; // the sender's limit per endpoint

export type Backlog = { deliver(count: number): Promise<number>; stop(): Promise<void> };

/** Creates an endpoint at the receiver, and stores backlogs of events for it. */
export async function prepareBacklog(target: Target, receiver: Receiver): Promise<Backlog> {
  await createEndpoint(target, receiver.url, ['bench.stored']);
  const db = new pg.Client({ connectionString: target.databaseUrl });
  await db.connect();
  await db.query('set enable_seqscan = off'); // polling for completion must not scan the table
  return {
    /** Returns deliveries per second, from the commit of the backlog until every result is stored. */
    async deliver(count) {
      await receiver.reset();
      await db.query('begin');
      await db.query(storeEvents, [count]);
      await db.query(`select pg_notify('simplane', 'deliveries ' || id) from accounts`);
      await db.query('commit');
      const startedAtMs = performance.now();
      await receiver.expect(count);
      while ((await db.query(`select from deliveries where status = 'pending' limit 1`)).rows.length > 0) {
        await sleep(1);
      }
      const elapsedMs = performance.now() - startedAtMs;
      await db.query('vacuum deliveries, delivery_attempts, events'); // not left to autovacuum during the next round
      return (count / elapsedMs) * 1_000;
    },
    stop: () => db.end(),
  };
}

const storeEvents = `
with endpoint as (
  select account_id, id from webhook_endpoints where enabled_event_types = '{bench.stored}'
), event as (
  insert into events (account_id, id, type, created_at, body)
  select account_id, uuid_v7(now()), 'bench.stored', now(),
         '{"id":"evt_01k9zzzzzzzzzzzzzzzzzzzzzz","type":"esim.provisioned","object":"event","created":1800000000,"data":{"iccid":"89999010000000000000","execution_id":"exec_01k9zzzzzzzzzzzzzzzzzzzzzz","product_id":"prod_europe_5gb_30d"}}'
  from endpoint, generate_series(1, $1) returning account_id, id
)
insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, due_at, created_at)
select event.account_id, uuid_v7(now()), event.id, endpoint.id, 'pending', 'event', now(), now()
from event join endpoint on endpoint.account_id = event.account_id`;

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
