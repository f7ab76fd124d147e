import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AuditEntry,
  type Batch,
  type Bundle,
  type Delivery,
  type Esim,
  type Event,
  type Execution,
  encodeId,
  type IdPrefix,
  idPrefixes,
  type OperatorAuditEntry,
  type WebhookEndpoint,
} from '@simplane/contract';
import { refusedAfterMs } from './checks/ended-credentials-are-refused.ts';
import { tryCredential } from './clients/credentials.ts';
import { sendOnce } from './clients/send.ts';
import { recordWalk, walk } from './clients/walk.ts';
import { erasedEsims } from './history/erased.ts';
import type {
  AccountEnd,
  Books,
  EndedDelivery,
  FeedReader,
  ListName,
  OrderRow,
  StuckRow,
} from './history/history.ts';
import { noteRefusal, readPage } from './readers/feed-page.ts';
import type { RunContext } from './run-context.ts';

const lists: ListName[] = ['executions', 'esims', 'events', 'webhook_endpoints'];

/** Records the deliveries of every event, before anything is recovered. */
export async function collectDeliveries(ctx: RunContext): Promise<void> {
  ctx.history.deliveriesAsOfMs = Date.now();
  for (const account of ctx.deployment.keys.keys()) {
    const events = await walk<Event>(ctx, { account, path: '/v1/events', limit: 100 });
    const deliveries = await inBatches(events, ({ id }) =>
      walk<Delivery>(ctx, { account, path: `/v1/events/${id}/deliveries`, limit: 100 }),
    );
    ctx.history.deliveries.push(deliveries.flat());
  }
}

/** Records the final state from the API; stuck rows and commit times come from the database. */
export async function collectEnd(ctx: RunContext): Promise<void> {
  const { history, deployment } = ctx;
  for (const account of deployment.keys.keys()) {
    history.end.push(await collectAccount(ctx, account));
    for (const list of lists) await recordWalk(ctx, account, list, 7);
    await readWholeFeed(ctx, account);
  }
  if (deployment.operatorKey !== '') {
    const ofAll = { account: 0, isOperator: true, path: '/v1/operator/audit_log', limit: 100 };
    const entries = await walk<OperatorAuditEntry>(ctx, ofAll);
    history.deploymentEntries = entries.filter(({ account_id: account }) => account === null);
  }
  await probeOtherAccounts(ctx);
  await tryEndedCredentials(ctx);
  history.stuck.push(...(await readStuckRows(ctx)));
  history.orderRows.push(...(await readOrderRows(ctx)));
  history.deploymentFeed = await readDeploymentFeed(ctx);
  history.places = await readPlaces(ctx);
  history.books = await readBooks(ctx);
  history.remaining = await readRemaining(ctx);
  history.endedDeliveries = await readEndedDeliveries(ctx);
  history.stolenLeases = await readStolenLeases(ctx);
  // A cell from which an account was moved keeps its events, so that one may be read twice.
  for (const { id, at } of await readCommitTimes(ctx))
    history.committedMs.set(id, Math.min(at, history.committedMs.get(id) ?? at));
}

async function collectAccount(ctx: RunContext, account: number): Promise<AccountEnd> {
  const all = <Item>(path: string) => walk<Item>(ctx, { account, path: `/v1/${path}`, limit: 100 });
  const esims = await all<Esim>('esims');
  const bundles = await inBatches(esims, ({ iccid }) => all<Bundle>(`esims/${iccid}/bundles`));
  return {
    executions: await all<Execution>('executions'),
    batches: await all<Batch>('batches'),
    esims,
    bundles: bundles.flat(),
    events: await all<Event>('events'),
    endpoints: await all<WebhookEndpoint>('webhook_endpoints'),
    auditEntries: await all<AuditEntry>('audit_log'),
  };
}

/** Reads the feed once more from `start`: what it shows now must be what its readers saw. */
async function readWholeFeed(ctx: RunContext, account: number): Promise<void> {
  const reader: FeedReader = { account, kind: 'late', seen: [], refusals: [] };
  ctx.history.feedReaders.push(reader);
  const { signal } = new AbortController();
  let after = 'start';
  for (let at = 0; Date.now() < ctx.deadlineMs; at++) {
    const page = await readPage(ctx, { account, query: `after=${after}&limit=100`, at, signal });
    if (page.kind === 'refusal') return noteRefusal(reader, page.text);
    if (page.kind === 'none') continue;
    reader.seen.push(...page.events);
    if (page.isLast) return;
    after = page.cursor;
  }
}

/** Each account requests resources of the other; the checks look at the answers. */
async function probeOtherAccounts(ctx: RunContext): Promise<void> {
  const { end } = ctx.history;
  for (const [account, { executions, esims, events, endpoints }] of end.entries()) {
    const other = (account + 1) % end.length;
    const paths = [
      ...executions.slice(0, 3).map(({ id }) => `/v1/executions/${id}`),
      ...esims.slice(0, 3).map(({ iccid }) => `/v1/esims/${iccid}`),
      ...events.slice(0, 3).map(({ id }) => `/v1/events/${id}`),
      ...endpoints.slice(0, 3).map(({ id }) => `/v1/webhook_endpoints/${id}`),
    ];
    for (const path of paths) await sendOnce(ctx, { account: other, path }, 20_000);
  }
}

/** Once more, when every process must have learned of the end of each. */
async function tryEndedCredentials(ctx: RunContext): Promise<void> {
  const { credentials } = ctx.history;
  const lastMs = Math.max(0, ...credentials.map(({ endedMs }) => endedMs ?? 0));
  await sleep(Math.max(0, lastMs + refusedAfterMs + 1 - Date.now()));
  await inBatches(credentials, (credential) => tryCredential(ctx, credential));
}

async function readStuckRows({ deployment }: RunContext): Promise<StuckRow[]> {
  const { postgres, database } = deployment;
  return postgres.query<StuckRow>(
    database,
    `select 'execution_queue' as table, id::text, 'due ' || (due_at - now()) || ' from now, lease ' || coalesce(leased_until::text, 'none')
       || ', attempt ' || attempts as why
     from execution_queue
     union all
     select 'delivery_queue', q.id::text,
       'due ' || (due_at - now()) || ' from now, endpoint leased until ' || coalesce(leased_until::text, 'never')
     from delivery_queue q left join endpoint_leases l on l.endpoint_id = q.endpoint_id
     union all
     select 'blocked_deliveries', id::text, 'blocked, position ' || coalesce(position::text, 'none') from blocked_deliveries
     union all
     select 'unsequenced_events', id::text, cardinality(event_ids) || ' events without a position'
     from unsequenced_events
     union all
     select 'recoveries', id::text, 'open since ' || created_at from recoveries where finished_at is null
     union all
     select 'core_queue', iccid, 'version ' || version || ', failures ' || failures || ', due ' || (due_at - now()) || ' from now'
     from core_queue
     union all
     select 'batches', id::text, 'unfinished since ' || created_at from batches where finished_at is null
     union all
     select 'erasures', id::text, 'at ' || coalesce(step, 'its start') || ' since ' || requested_at from erasures where finished_at is null
     union all
     select 'failure_group_retries', id::text, status from failure_group_retries where finished_at is null
     union all
     select 'execution_resolutions', execution_id::text, 'not given back after ' || attempts || ' attempts'
     from execution_resolutions where closed_at is null`,
  );
}

async function readOrderRows({ deployment }: RunContext): Promise<OrderRow[]> {
  const { postgres, database } = deployment;
  const rows = await postgres.query<OrderRow>(
    database,
    `select id::text, 'execution_queue' as table from execution_queue
     union all
     select id::text, 'executions' from executions`,
  );
  return rows.map(({ id, table }) => ({ id: encodeUuid(idPrefixes.execution, id), table }));
}

function encodeUuid(prefix: IdPrefix, uuid: string): string {
  return encodeId(prefix, Buffer.from(uuid.replaceAll('-', ''), 'hex'));
}

/** The tables that contain each delivery. */
async function readPlaces({ deployment }: RunContext): Promise<Map<string, string[]>> {
  const { postgres, database } = deployment;
  const rows = await postgres.query<{ id: string; place: string }>(
    database,
    `select id, 'delivery_queue' as place from delivery_queue
     union all
     select id, 'blocked_deliveries' from blocked_deliveries
     union all
     select id, 'deliveries' from deliveries`,
  );
  const places = new Map<string, string[]>();
  for (const { id, place } of rows) {
    const name = encodeUuid(idPrefixes.delivery, id);
    places.set(name, [...(places.get(name) ?? []), place]);
  }
  return places;
}

async function readBooks({ deployment }: RunContext): Promise<Books> {
  const { postgres, database } = deployment;
  const late = await postgres.query<{ iccid: string; bytes: number }>(
    database,
    'select iccid, late_bytes::float8 as bytes from esims where late_bytes <> 0',
  );
  const stored = await postgres.query<{ name: string }>(
    database,
    `select 'eSIM ' || iccid as name from esims
     union all
     select 'usage record ' || record_id || ' of ' || iccid from usage_records`,
  );
  const names = new Set<string>();
  return {
    late: new Map(late.map(({ iccid, bytes }) => [iccid, bytes])),
    doubled: stored.flatMap(({ name }) => (names.has(name) ? [name] : names.add(name) && [])),
    unbalanced: await postgres.query(
      database,
      `select iccid, recorded::float8, counted::float8
       from (
         select
           iccid,
           (select coalesce(sum(bytes), 0) from usage_records where usage_records.iccid = esims.iccid) as recorded,
           (select coalesce(sum(used_bytes), 0) from bundles where bundles.iccid = esims.iccid)
             + uncovered_bytes + late_bytes as counted
         from esims
       ) books
       where recorded <> counted`,
    ),
    foreign: await postgres.query(
      database,
      `select record.iccid, record_id, record.country
       from usage_records record
       cross join lateral (
         select record.bundle_id as id
         union all
         select place::uuid from jsonb_object_keys(record.parts) place where place not in ('uncovered', 'late')
       ) charged
       join bundles using (id)
       where not record.country = any(bundles.countries)`,
    ),
  };
}

/** Searches all columns of all tables for what was stored of erased eSIMs. */
async function readRemaining({ deployment, history }: RunContext): Promise<Map<string, string[]>> {
  const { postgres, database } = deployment;
  const texts = erasedEsims(history).map(({ text }) => text);
  if (texts.length === 0) return new Map();
  const tables = await postgres.query<{ name: string }>(
    database,
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  const given = texts.map((text) => `'${text}'`).join(', ');
  const found = await postgres.query<{ text: string; table: string }>(
    database,
    tables
      .map(
        ({ name }) =>
          `select distinct text, '${name}' as table from ${name} whole, unnest(array[${given}]) text where strpos(whole::text, text) > 0`,
      )
      .join(' union all '),
  );
  return new Map(
    texts.map((text) => [text, found.filter((one) => one.text === text).map(({ table }) => table)]),
  );
}

async function readEndedDeliveries({ deployment }: RunContext): Promise<EndedDelivery[]> {
  const { postgres, database } = deployment;
  type Row = Record<'id' | 'endpoint_id' | 'event_id' | 'origin', string> &
    Record<'created_at' | 'ended_at', Date>;
  const rows = await postgres.query<Row>(
    database,
    `select id, endpoint_id, event_id, origin, created_at,
       finished_at + coalesce(duration_ms, 0) * interval '1 ms' as ended_at -- the last attempt began at finished_at
     from deliveries
     where origin in ('event', 'recovery')
     order by created_at`,
  );
  return rows.map((row) => ({
    id: encodeUuid(idPrefixes.delivery, row.id),
    endpointId: encodeUuid(idPrefixes.webhookEndpoint, row.endpoint_id),
    eventId: encodeUuid(idPrefixes.event, row.event_id),
    origin: row.origin,
    createdMs: row.created_at.getTime(),
    endedMs: row.ended_at.getTime(),
  }));
}

async function readStolenLeases({ deployment }: RunContext): Promise<string[]> {
  const { postgres, database } = deployment;
  const rows = await postgres.query<{ endpoint_id: string }>(
    database,
    'select endpoint_id from stolen_leases order by at',
  );
  return rows.map(({ endpoint_id: id }) => encodeUuid(idPrefixes.webhookEndpoint, id));
}

async function readDeploymentFeed({ deployment }: RunContext): Promise<string[]> {
  const { postgres, database } = deployment;
  const rows = await postgres.query<{ id: string }>(
    database,
    `select one.id
     from event_feed run
     cross join lateral unnest(run.event_ids) with ordinality as one (id, number)
     where run.account_id = '00000000-0000-0000-0000-000000000000'
     order by run.first_position, one.number`,
  );
  return rows.map(({ id }) => encodeUuid(idPrefixes.event, id));
}

async function readCommitTimes({ deployment }: RunContext): Promise<{ id: string; at: number }[]> {
  const { postgres, database } = deployment;
  const rows = await postgres.query<{ id: string; at: Date | null }>(
    database,
    'select id, pg_xact_commit_timestamp(xmin) as at from events',
  );
  return rows.map(({ id, at }) => ({
    id: encodeUuid(idPrefixes.event, id),
    at: at?.getTime() ?? 0,
  }));
}

const batchSize = 8;

async function inBatches<Item, Found>(items: Item[], find: (item: Item) => Promise<Found>): Promise<Found[]> {
  const found: Found[] = [];
  for (let i = 0; i < items.length; i += batchSize) {
    found.push(...(await Promise.all(items.slice(i, i + batchSize).map(find))));
  }
  return found;
}
