import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { alternate } from '../support/alternate.ts';
import { createEndpoint } from '../support/delivering.ts';
import { type Deployment, runSql, type Target } from '../support/deployment.ts';
import { startGenerator, startReceiver } from '../support/load.ts';
import { provisionRate } from '../support/provisioning.ts';
import type { Result } from '../support/scenario.ts';
import { warmUp } from '../support/warm-up.ts';

const count = 3_000;

/**
 * Provisioning, until every event is delivered and in the feed, while a transaction stays open for the whole run, like a dump, so
 * that no dead row can be removed. Compared to a run without one, on a separate database in the same PostgreSQL.
 */
export async function snapshotHeld(
  deployment: Deployment,
  progress: (what: string) => void,
): Promise<Result> {
  const generator = startGenerator();
  const receiver = await startReceiver();
  const holder = new pg.Client({ connectionString: deployment.databaseUrl });
  try {
    const free = await deployment.startServer({}, await deployment.createDatabase('free'));
    for (const target of [deployment, free]) {
      await createEndpoint(target, receiver.url, ['esim.provisioned']);
    }
    const rateOf = (target: Target) => async () => {
      const startedAtMs = performance.now();
      await provisionRate({ generator, receiver }, target, count);
      await untilInFeed(target);
      return (count / (performance.now() - startedAtMs)) * 1_000;
    };
    const [value, ceiling] = [rateOf(deployment), rateOf(free)];
    progress('warming up');
    await warmUp(value, ceiling);
    await holder.connect();
    await holder.query('begin isolation level repeatable read');
    await holder.query('select count(*) from accounts');
    return await alternate({ value, ceiling }, { rounds: 7, unit: 'eSIMs/s', goal: '≥ 0.8', progress });
  } finally {
    await holder.end();
    await receiver.stop();
    await generator.stop();
  }
}

/** Waits until every event has its position. */
async function untilInFeed({ databaseUrl }: Target): Promise<void> {
  for (;;) {
    const [row] = await runSql<{ missing: boolean }>(
      databaseUrl,
      `select (select count(*) from events) > (select sum(last_position) from event_feed_heads) as missing`,
    );
    if (row?.missing === false) return;
    await sleep(2);
  }
}
