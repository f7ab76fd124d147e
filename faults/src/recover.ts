import type { WebhookEndpoint } from '@simplane/contract';
import { ask } from './clients/ask.ts';
import { walk } from './clients/walk.ts';
import { note } from './history/note.ts';
import { until } from './until.ts';
import type { World } from './world.ts';

/** Ends every fault: all processes run, all links are open, the network and the receivers behave. */
export async function heal({ deployment, history }: World): Promise<void> {
  for (const link of deployment.links.values()) link.release();
  for (const server of deployment.processes) server.thaw();
  deployment.network.heal();
  deployment.receivers.heal();
  // One that ended by itself was recorded; the others' work has to be seen to its end all the same.
  await Promise.all(
    deployment.processes.filter((server) => server.url() === null).map((server) => server.start()),
  );
  note(history, 'everything is healed');
}

const mostRounds = 6;

/**
 * Asks for what each endpoint has missed, as its owner does after mending it, and for one last event. On a loaded machine a
 * flood of missed events can be answered too late and disable an endpoint again: then its owner asks again.
 */
export async function recoverAll(world: World, stalledMs: number): Promise<void> {
  for (const account of world.deployment.keys.keys()) {
    for (const { id } of await endpointsOf(world, account)) await recoverOne(world, account, id, 1);
    await ask(world, {
      account,
      method: 'POST',
      path: '/v1/events/test',
      key: `last-event-${account}`,
      body: { type: 'test.last', data: { account } },
    });
  }
  note(world.history, 'everything was asked to recover');
  for (let round = 2; await becomesQuiet(world, stalledMs); round++) {
    let asked = 0;
    for (const account of world.deployment.keys.keys()) {
      const endpoints = await endpointsOf(world, account);
      for (const { id, status } of endpoints) {
        if (status === 'enabled' && !(await hasFailed(world, account, id))) continue;
        await recoverOne(world, account, id, round);
        asked += 1;
      }
    }
    if (asked === 0 || round === mostRounds) return;
    note(world.history, `${asked} endpoints were asked to recover again`);
  }
}

function endpointsOf(world: World, account: number): Promise<WebhookEndpoint[]> {
  return walk<WebhookEndpoint>(world, { account, path: '/v1/webhook_endpoints', limit: 100 });
}

/** Whether an event that was recovered could not be delivered after all. */
async function hasFailed(world: World, account: number, id: string): Promise<boolean> {
  const { status, text } = await ask(world, {
    account,
    path: `/v1/webhook_endpoints/${id}/deliveries?status=failed&limit=1`,
  });
  const { data } = JSON.parse(text) as { data: { created: number }[] };
  return status === 200 && data.some(({ created }) => created * 1000 >= world.history.deliveriesAsOfMs);
}

async function recoverOne(world: World, account: number, id: string, round: number): Promise<void> {
  const path = `/v1/webhook_endpoints/${id}`;
  await ask(world, { account, method: 'POST', path: `${path}/enable`, key: `last-enable-${round}-${id}` });
  await ask(world, {
    account,
    method: 'POST',
    path: `${path}/recover`,
    key: `last-recover-${round}-${id}`,
    body: { since: Math.floor(world.history.startedMs / 1000) },
  });
}

type Open = { open: number; movement: string };

/**
 * Until there is no work left. Nothing is due later than a few seconds from now, so work that does not move for much
 * longer never will; false then.
 */
export async function becomesQuiet(world: World, stalledAfterMs: number): Promise<boolean> {
  const { postgres, database } = world.deployment;
  let last = '';
  let movedAtMs = performance.now();
  let isStalled = false;
  await until(
    async () => {
      const [now] = await postgres.query<Open>(database, openWork);
      if (now?.movement !== last) {
        last = now?.movement ?? '';
        movedAtMs = performance.now();
      }
      isStalled = performance.now() - movedAtMs > stalledAfterMs;
      return now?.open === 0 || isStalled || Date.now() > world.giveUpAtMs;
    },
    Number.POSITIVE_INFINITY,
    100,
  );
  return !isStalled;
}

const openWork = `
select (executions.open + deliveries.open + recoveries.open)::int as open,
       concat_ws(' ', executions.open, executions.moves, deliveries.open, deliveries.moves, recoveries.open) as movement
from (select count(*) filter (where status in ('queued', 'running')) as open, sum(fence) as moves from executions) executions,
     (select count(*) filter (where status = 'pending') as open, sum(fence) as moves from deliveries) deliveries,
     (select count(*) filter (where finished_at is null) as open from recoveries) recoveries`;
