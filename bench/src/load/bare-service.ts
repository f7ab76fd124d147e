/**
 * The ceiling for provisioning; runs as a child process. Accepts orders, settles them and sends their webhooks with the same rows and
 * POSTs, in one process and in batches. It checks nothing, leases nothing, limits nothing, and a crash would lose work.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import pg from 'pg';
import { serveTasks } from '../support/child.ts';
import { answer, newUuid } from './bare-accepts.ts';
import { createPoster, storeDeliveries } from './bare-deliveries.ts';
import { eventBody } from './bare-posts.ts';
import { startBareServer } from './bare-server.ts';
import { grouped } from './grouped.ts';

export type BareService = { databaseUrl: string; receiverUrl: string; inFlight: number };

type Order = { id: string; key: string; at: Date };
type Told = { id: string; at: Date; durationMs: number };

async function start({ databaseUrl, receiverUrl, inFlight }: BareService): Promise<string> {
  const [accepting, settling, telling] = await Promise.all([1, 2, 3].map(() => connect(databaseUrl)));
  const { rows } = await (accepting as pg.Client).query<{ account_id: string; id: string }>(
    'select account_id, id from webhook_endpoints limit 1',
  );
  const endpoint = rows[0] as { account_id: string; id: string };
  const post = createPoster(receiverUrl, inFlight);
  const fingerprint = randomBytes(32);

  const accept = grouped<Order>(async (orders) => {
    await accepting?.query({
      name: 'bare_accept',
      text: acceptOrders,
      values: [
        endpoint.account_id,
        fingerprint,
        ...columnsOf(orders),
        orders.map(({ id, at }) => answer(id, at)),
      ],
    });
  });
  const settle = grouped<Order>(async (orders) => {
    const iccids = orders.map(
      () => `8999${randomBytes(8).readBigUInt64BE().toString().padStart(20, '0').slice(0, 15)}`,
    );
    await settling?.query({
      name: 'bare_settle',
      text: settleOrders,
      values: [
        ...[endpoint.account_id, endpoint.id, orders.map(({ id }) => id), iccids],
        orders.map(({ id }, n) => eventBody(`evt_${id}`, iccids[n])),
      ],
    });
  });
  const told = grouped<Told>((ended) => storeDeliveries(telling as pg.Client, endpoint.account_id, ended));

  async function serve(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
    JSON.parse(text);
    const order = { id: newUuid(), key: String(request.headers['idempotency-key']), at: new Date() };
    await accept(order);
    response.writeHead(202, { 'content-type': 'application/json' }).end(answer(order.id, order.at));
    await settle(order);
    const at = new Date();
    await post.send({ event_id: order.id, body: eventBody(`evt_${order.id}`) });
    await told({ id: order.id, at, durationMs: Date.now() - at.getTime() });
  }

  return startBareServer(serve);
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

function columnsOf(orders: Order[]) {
  return [orders.map(({ id }) => id), orders.map(({ key }) => key), orders.map(({ at }) => at)];
}

const acceptOrders = `
with given as (
  select * from unnest($3::uuid[], $4::text[], $5::timestamptz[], $6::text[]) as given (id, key, at, body)
), stored as (
  insert into idempotency_keys (account_id, key, fingerprint, status, location, body, created_at, expires_at)
  select $1, key, $2, 202, '/v1/executions/' || id, body, at, at + interval '1 day' from given
)
insert into execution_queue (account_id, id, type, product_id, input, created_at)
select $1, id, 'esim.provision', 'prod_europe_5gb_30d', '{"metadata": {}, "description": null}', at from given`;

// The delivery has the id of its event, so that its result needs no other.
const settleOrders = `
with given as (
  select * from unnest($3::uuid[], $4::text[], $5::text[]) as given (id, iccid, body)
), taken as (
  delete from execution_queue q using given where q.account_id = $1 and q.id = given.id
  returning q.account_id, q.id, q.product_id, q.input, q.created_at, given.iccid, given.body
), ended as (
  insert into executions (account_id, id, type, status, product_id, iccid, input, attempts, created_at, finished_at)
  select account_id, id, 'esim.provision', 'succeeded', product_id, iccid, input, 1, created_at, now() from taken
), made as (
  insert into esims (account_id, id, iccid, execution_id, product_id, status, profile_state, metadata, smdp_address, matching_id,
    created_at, provisioned_at)
  select account_id, id, iccid, id, product_id, 'provisioned', 'released', '{}', 'rsp.example.com', 'A1B2C3D4E5F6A1B2C3D4E5F6',
    created_at, now()
  from taken
), filled as (
  insert into bundles (account_id, id, iccid, product_id, status, thresholds, validity_days, created_at)
  select account_id, id, iccid, product_id, 'queued', '{}', 30, now() from taken
), told as (
  insert into events (account_id, id, type, created_at, body)
  select account_id, id, 'esim.provisioned', now(), body from taken
)
insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
select account_id, id, id, $2, 'event', now() from taken`;

serveTasks({ start });
