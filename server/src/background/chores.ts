import { removeExpired } from '../accounts/sessions/end-session.ts';
import type { Config } from '../config/settings.ts';
import { cancelUndeliverable } from '../notify/webhooks/endpoints/disable.ts';
import { reportHealth } from '../notify/webhooks/endpoints/report-health.ts';
import { createOrderFallback } from '../notify/webhooks/ordered/place-in-order.ts';
import { runRecoveries } from '../notify/webhooks/recoveries/run-recoveries.ts';
import { reportRuleOf } from '../notify/webhooks/sender/health.ts';
import { deleteStaleLeases } from '../notify/webhooks/sender/start-sender.ts';
import { expireBundles } from '../orders/bundles/expire.ts';
import { countIccidRanges } from '../orders/esims/list-iccid-ranges.ts';
import { continueGroupRetries } from '../orders/operator/continue-group-retries.ts';
import { createFirstStatistics } from '../platform/db/first-statistics.ts';
import { purgeExpiredKeys } from '../platform/idempotency/purge-expired.ts';
import { every } from '../platform/worker/every.ts';
import { countEvents } from '../views/overview/count-events.ts';
import { rulesOf } from './retention/rules.ts';
import { sweep } from './retention/sweep.ts';
import type { Service } from './service.ts';
import { disableRuleOf } from './start-webhooks.ts';

/** Starts the periodic chores of a process that serves the API. */
export function startApiChores({ clock, keys }: Service, onError: (error: unknown) => void) {
  return [
    every(10_000, () => keys.flushUses(), onError),
    every(5_000, () => keys.learn(clock.nowMs()), onError),
  ];
}

/** Starts the periodic chores of a worker. Any number of processes may run them concurrently. */
export function startWorkerChores(service: Service, config: Config, onError: (error: unknown) => void) {
  const { db, clock } = service;
  const reportRule = reportRuleOf(disableRuleOf(config));
  const rules = rulesOf(config);
  const served = new Set<string>();
  return [
    every(60_000, (stopping) => purgeExpiredKeys(db, clock, stopping), onError),
    every(60_000, () => removeExpired(db, clock), onError),
    every(60_000, (stopping) => sweep(db, clock, rules, stopping), onError),
    every(1_000, (stopping) => expireBundles(db, service, stopping), onError),
    every(1_000, () => runRecoveries(db, { ...service, served }), onError),
    every(1_000, (stopping) => continueGroupRetries(db, service, stopping), onError),
    every(1_000, createOrderFallback(service), onError),
    every(1_000, (stopping) => reportHealth(db, service, reportRule, stopping), onError),
    every(2_000, (stopping) => countEvents(service, stopping), onError),
    every(10_000, (stopping) => cancelUndeliverable(db, clock, stopping), onError),
    every(600_000, () => deleteStaleLeases(db), onError),
    every(600_000, () => countIccidRanges(db), onError),
    every(2_000, createFirstStatistics(db, onError), onError),
  ];
}
