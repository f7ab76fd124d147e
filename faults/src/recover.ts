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

/** Asks for what each endpoint has missed, as its owner does after mending it, and for one last event. */
export async function recoverAll(world: World): Promise<void> {
  for (const account of world.deployment.keys.keys()) {
    const endpoints = await walk<WebhookEndpoint>(world, {
      account,
      path: '/v1/webhook_endpoints',
      limit: 100,
    });
    for (const { id } of endpoints) {
      const path = `/v1/webhook_endpoints/${id}`;
      await ask(world, { account, method: 'POST', path: `${path}/enable`, key: `last-enable-${id}` });
      await ask(world, {
        account,
        method: 'POST',
        path: `${path}/recover`,
        key: `last-recover-${id}`,
        body: { since: Math.floor(world.history.startedMs / 1000) },
      });
    }
    await ask(world, {
      account,
      method: 'POST',
      path: '/v1/events/test',
      key: `last-event-${account}`,
      body: { type: 'test.last', data: { account } },
    });
  }
  note(world.history, 'everything was asked to recover');
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
