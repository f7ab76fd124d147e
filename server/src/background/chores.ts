import { removeExpired } from '../accounts/sessions/end-session.ts';
import type { Config } from '../config/settings.ts';
import { queueForDeployment } from '../notify/webhooks/deployment-deliveries.ts';
import { cancelUndeliverable } from '../notify/webhooks/endpoints/disable.ts';
import { reportHealth } from '../notify/webhooks/endpoints/report-health.ts';
import { createOrderFallback } from '../notify/webhooks/ordered/place-in-order.ts';
import { runRecoveries } from '../notify/webhooks/recoveries/run-recoveries.ts';
import { reportRuleOf } from '../notify/webhooks/sender/health.ts';
import { deleteStaleLeases } from '../notify/webhooks/sender/start-sender.ts';
import { finishBatches } from '../orders/batches/finish-due.ts';
import { expireBundles } from '../orders/bundles/expire.ts';
import { continueClosings } from '../orders/closing/continue.ts';
import { runErasures } from '../orders/erasures/run.ts';
import { countIccidRanges } from '../orders/esims/list-iccid-ranges.ts';
import { continueGroupRetries } from '../orders/operator/continue-group-retries.ts';
import { endServices } from '../orders/service/end-due.ts';
import { continueResync } from '../orders/service/resync.ts';
import { createFirstStatistics } from '../platform/db/first-statistics.ts';
import { purgeExpiredKeys } from '../platform/idempotency/purge-expired.ts';
import { every } from '../platform/worker/every.ts';
import { runWhenWoken } from '../platform/worker/wake.ts';
import { countEvents } from '../views/overview/count-events.ts';
import { releaseDead } from './release-dead.ts';
import { rulesOf } from './retention/rules.ts';
import { sweep } from './retention/sweep.ts';
import type { Service } from './service.ts';
import { disableRuleOf } from './start-webhooks.ts';
import { unlessQuiet } from './unless-quiet.ts';
import type { Waiting } from './waiting.ts';
import { beatMs, type WorkerBeat } from './worker-beat.ts';

type Timed = { everyMs: number };
/** Run each second while something may wait for it. */
type Watched = { when: Waiting };
export type Chore = (Timed | Watched) & { run(stopping: AbortSignal): Promise<unknown>; end?(): void };

/** The periodic chores of a process that serves the API. */
export function apiChores({ clock, keys }: Service): Chore[] {
  return [
    { everyMs: 10_000, run: () => keys.flushUses() },
    { everyMs: 5_000, run: () => keys.learn(clock.nowMs()) },
  ];
}

/** The periodic chores of a worker. Any number of processes may run them concurrently. */
export function workerChores(service: Service, config: Config, onError: (error: unknown) => void): Chore[] {
  const { db, clock } = service;
  const reportRule = reportRuleOf(disableRuleOf(config));
  const rules = rulesOf(config);
  const served = new Set<string>();
  return [
    { everyMs: 60_000, run: (stopping) => purgeExpiredKeys(db, clock, stopping) },
    { everyMs: 60_000, run: () => removeExpired(db, clock) },
    { everyMs: 60_000, run: (stopping) => sweep(db, clock, rules, stopping) },
    { when: 'batches', run: (stopping) => finishBatches(db, service, stopping) },
    { when: 'closings', run: (stopping) => continueClosings(db, service, stopping) },
    { when: 'erasures', run: (stopping) => runErasures(db, service, stopping) },
    { when: 'bundles', run: (stopping) => expireBundles(db, service, stopping) },
    { when: 'services', run: (stopping) => endServices(db, service, stopping) },
    { when: 'resync', run: (stopping) => continueResync(db, service, stopping) },
    { when: 'recoveries', run: () => runRecoveries(db, { ...service, served }) },
    { when: 'groupRetries', run: (stopping) => continueGroupRetries(db, service, stopping) },
    { when: 'blocked', run: createOrderFallback(service) },
    { when: 'listeners', run: () => queueForDeployment(service) },
    { when: 'health', run: (stopping) => reportHealth(db, service, reportRule, stopping) },
    { when: 'deadWorkers', run: () => releaseDead(service) },
    { everyMs: 2_000, ...unlessQuiet(service, ['feed'], (stopping) => countEvents(service, stopping)) },
    { everyMs: 10_000, run: (stopping) => cancelUndeliverable(db, clock, stopping) },
    { everyMs: 600_000, run: () => deleteStaleLeases(db) },
    { everyMs: 600_000, run: () => countIccidRanges(db) },
    {
      everyMs: 2_000,
      // Work done from memory is not announced, but the positions of its events are.
      ...unlessQuiet(service, ['executions', 'feed'], createFirstStatistics(db, onError)),
    },
  ];
}

/** A process that works beats; what waits for its chores is read with each beat, and first at once. */
export function startChores(
  chores: readonly Chore[],
  beat: WorkerBeat['beat'] | null,
  onError: (error: unknown) => void,
) {
  const stopping = new AbortController();
  const timed = chores.flatMap((chore) =>
    'everyMs' in chore ? every(chore.everyMs, chore.run, onError) : [],
  );
  const watched = chores.flatMap((chore) => {
    if (!('when' in chore)) return [];
    return { when: chore.when, ...runWhenWoken(() => chore.run(stopping.signal), onError) };
  });
  const watch = async () => {
    const waiting = await beat?.();
    for (const { when, wake } of watched) if (waiting?.[when]) wake();
  };
  const first = beat && watch().catch(onError);
  const watching = beat ? [every(beatMs, watch, onError)] : [];
  return {
    async stop() {
      stopping.abort();
      await first;
      await Promise.all([...watching, ...timed].map((one) => one.stop()));
      await Promise.all(watched.map((one) => one.stop()));
      for (const { end } of chores) end?.();
    },
  };
}
