import {
  type Bundle,
  type Delivery,
  type Esim,
  type Event,
  type Execution,
  encodeId,
  idPrefixes,
  type WebhookEndpoint,
} from '@simplane/contract';
import { askOnce } from './clients/ask.ts';
import { recordWalk, walk } from './clients/walk.ts';
import type { AccountEnd, ListName, StuckRow } from './history/history.ts';
import type { World } from './world.ts';

const lists: ListName[] = ['executions', 'esims', 'events', 'webhook_endpoints'];

/** How everything stands before anything is recovered: what became of each event at each endpoint. */
export async function collectDeliveries(world: World): Promise<void> {
  world.history.deliveriesAsOfMs = Date.now();
  for (const account of world.deployment.keys.keys()) {
    const events = await walk<Event>(world, { account, path: '/v1/events', limit: 100 });
    const deliveries = await eachOf(events, ({ id }) =>
      walk<Delivery>(world, { account, path: `/v1/events/${id}/deliveries`, limit: 100 }),
    );
    world.history.deliveries.push(deliveries.flat());
  }
}

/** How everything stands at the very end, by the API; what no answer tells is read from the tables. */
export async function collectEnd(world: World): Promise<void> {
  const { history, deployment } = world;
  for (const account of deployment.keys.keys()) {
    history.end.push(await collectAccount(world, account));
    for (const list of lists) await recordWalk(world, account, list, 7);
  }
  await probeOthers(world);
  history.stuck.push(...(await readStuckRows(world)));
  for (const { id, at } of await readCommitTimes(world)) history.committedMs.set(id, at);
}

async function collectAccount(world: World, account: number): Promise<AccountEnd> {
  const all = <Item>(path: string) => walk<Item>(world, { account, path: `/v1/${path}`, limit: 100 });
  const esims = await all<Esim>('esims');
  const bundles = await eachOf(esims, ({ iccid }) => all<Bundle>(`esims/${iccid}/bundles`));
  return {
    executions: await all<Execution>('executions'),
    esims,
    bundles: bundles.flat(),
    events: await all<Event>('events'),
    endpoints: await all<WebhookEndpoint>('webhook_endpoints'),
  };
}

/** Each account asks for what belongs to the other. The answers are judged with all the others. */
async function probeOthers(world: World): Promise<void> {
  const { end } = world.history;
  for (const [account, { executions, esims, events, endpoints }] of end.entries()) {
    const other = (account + 1) % end.length;
    const paths = [
      ...executions.slice(0, 3).map(({ id }) => `/v1/executions/${id}`),
      ...esims.slice(0, 3).map(({ iccid }) => `/v1/esims/${iccid}`),
      ...events.slice(0, 3).map(({ id }) => `/v1/events/${id}`),
      ...endpoints.slice(0, 3).map(({ id }) => `/v1/webhook_endpoints/${id}`),
    ];
    for (const path of paths) await askOnce(world, { account: other, path }, 20_000);
  }
}

async function readStuckRows({ deployment }: World): Promise<StuckRow[]> {
  const { postgres, database } = deployment;
  return postgres.query<StuckRow>(
    database,
    `select 'executions' as table, id::text, status || ', due ' || (due_at - now()) || ' from now, attempt ' || attempts as why
     from executions where status in ('queued', 'running')
     union all
     select 'deliveries', id::text, 'pending, due ' || (due_at - now()) || ' from now, lease ' || coalesce(leased_until::text, 'none')
     from deliveries where status = 'pending'
     union all
     select 'recoveries', id::text, 'open since ' || created_at from recoveries where finished_at is null`,
  );
}

async function readCommitTimes({ deployment }: World): Promise<{ id: string; at: number }[]> {
  const { postgres, database } = deployment;
  const rows = await postgres.query<{ id: string; at: Date | null }>(
    database,
    'select id, pg_xact_commit_timestamp(xmin) as at from events',
  );
  return rows.map(({ id, at }) => ({
    id: encodeId(idPrefixes.event, Buffer.from(id.replaceAll('-', ''), 'hex')),
    at: at?.getTime() ?? 0,
  }));
}

const atOnce = 8;

async function eachOf<Item, Found>(items: Item[], find: (item: Item) => Promise<Found>): Promise<Found[]> {
  const found: Found[] = [];
  for (let i = 0; i < items.length; i += atOnce) {
    found.push(...(await Promise.all(items.slice(i, i + atOnce).map(find))));
  }
  return found;
}
