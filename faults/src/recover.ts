import type { WebhookEndpoint } from '@simplane/contract';
import { send } from './clients/send.ts';
import { walk } from './clients/walk.ts';
import { note } from './history/note.ts';
import type { RunContext } from './run-context.ts';
import { until } from './until.ts';

/** Ends every fault: all processes run, all links are open, the network and the receivers behave. */
export async function heal({ deployment, history }: RunContext): Promise<void> {
  for (const link of deployment.links.values()) link.release();
  for (const server of deployment.processes) {
    server.thaw();
    server.shiftClock(0);
  }
  deployment.network.heal();
  const hasLostStates = deployment.core.heal();
  deployment.receivers.heal();
  // Restart a process that exited by itself too (it is recorded): the remaining work must still finish.
  await Promise.all(
    deployment.processes.filter((server) => server.url() === null).map((server) => server.start()),
  );
  if (hasLostStates) await deployment.resyncCore();
  note(history, 'everything is healed');
}

const maxRounds = 6;

/**
 * Enables and recovers every endpoint, as its owner would after fixing it, and sends one last event. On a loaded machine the
 * recovered events can time out and disable an endpoint again; then it is recovered again.
 */
export async function recoverAll(ctx: RunContext, stalledMs: number): Promise<void> {
  for (const account of ctx.deployment.keys.keys()) {
    for (const { id } of await endpointsOf(ctx, account)) await recoverOne(ctx, account, id, 1);
    if (!ctx.deployment.isLive) await sendLastEvent(ctx, account);
  }
  note(ctx.history, 'all endpoints are recovering');
  for (let round = 2; await waitUntilIdle(ctx, stalledMs); round++) {
    let retried = 0;
    for (const account of ctx.deployment.keys.keys()) {
      const endpoints = await endpointsOf(ctx, account);
      for (const { id, status } of endpoints) {
        if (status === 'enabled' && !(await hasFailed(ctx, account, id))) continue;
        await recoverOne(ctx, account, id, round);
        retried += 1;
      }
    }
    if (retried === 0 || round === maxRounds) return;
    note(ctx.history, `${retried} endpoints are recovering again`);
  }
}

async function sendLastEvent(ctx: RunContext, account: number): Promise<void> {
  const body = { type: 'test.last', data: { account } };
  await send(ctx, { account, method: 'POST', path: '/v1/events/test', key: `last-event-${account}`, body });
}

function endpointsOf(ctx: RunContext, account: number): Promise<WebhookEndpoint[]> {
  return walk<WebhookEndpoint>(ctx, { account, path: '/v1/webhook_endpoints', limit: 100 });
}

/** Whether a delivery failed since the recovery began. */
async function hasFailed(ctx: RunContext, account: number, id: string): Promise<boolean> {
  const { status, text } = await send(ctx, {
    account,
    path: `/v1/webhook_endpoints/${id}/deliveries?status=failed&limit=1`,
  });
  const { data } = JSON.parse(text) as { data: { created: number }[] };
  return status === 200 && data.some(({ created }) => created * 1000 >= ctx.history.deliveriesAsOfMs);
}

async function recoverOne(ctx: RunContext, account: number, id: string, round: number): Promise<void> {
  const path = `/v1/webhook_endpoints/${id}`;
  await send(ctx, { account, method: 'POST', path: `${path}/enable`, key: `last-enable-${round}-${id}` });
  await send(ctx, {
    account,
    method: 'POST',
    path: `${path}/recover`,
    key: `last-recover-${round}-${id}`,
    body: { since: Math.floor(ctx.history.startedMs / 1000) },
  });
}

type Open = { open: number; movement: string };

/**
 * Waits until no work is left. All work is due within a few seconds, so work without progress for much longer is stuck;
 * returns false then.
 */
export async function waitUntilIdle(ctx: RunContext, stalledAfterMs: number): Promise<boolean> {
  const { postgres, database } = ctx.deployment;
  let last = '';
  let progressedAtMs = performance.now();
  let isStalled = false;
  await until(
    async () => {
      const found = await postgres.query<Open>(database, openWork);
      const movement = found.map((one) => one.movement).join();
      if (movement !== last) {
        last = movement;
        progressedAtMs = performance.now();
      }
      isStalled = performance.now() - progressedAtMs > stalledAfterMs;
      return found.every(({ open }) => open === 0) || isStalled || Date.now() > ctx.deadlineMs;
    },
    Number.POSITIVE_INFINITY,
    100,
  );
  return !isStalled;
}

const openWork = `
select (executions.open + deliveries.open + blocked.open + unsequenced.open + recoveries.open + reports.open + returns.open + retries.open + core.open)::int as open,
       concat_ws(' ', executions.open, executions.moves, deliveries.open, deliveries.moves, blocked.open, unsequenced.open,
         recoveries.open, reports.open, returns.open, returns.moves, retries.open, retries.moves, core.open, core.moves) as movement
from (select count(*) as open, sum(fence) as moves from execution_queue) executions,
     (select count(*) as open, concat_ws(' ', sum(attempt_count), (select count(*) from deliveries),
        (select sum(fence) from endpoint_leases)) as moves from delivery_queue) deliveries,
     (select count(*) as open from blocked_deliveries) blocked,
     (select count(*) as open from unsequenced_events) unsequenced,
     (select (select count(*) from recoveries where finished_at is null) + (select count(*) from batches where finished_at is null)
        + (select count(*) from erasures where finished_at is null) as open) recoveries,
     (select count(*) as open, sum(fence) as moves from execution_resolutions where closed_at is null) returns,
     (select count(*) as open, sum(retried) as moves from failure_group_retries where finished_at is null) retries,
     (select (select count(*) from core_queue) + (select count(*) from core_resync where finished_at is null) as open,
        concat_ws(' ', (select sum(failures) from core_queue), (select sum(esims) from core_resync)) as moves) core,
     -- Endpoints whose change of health has no event yet.
     (select count(*) as open from webhook_endpoints
      where status = 'enabled' and (reported_health = 'recovered'
        or failure_count >= 3 and (reported_health is null or reported_health = 'enabled'))) reports`;
