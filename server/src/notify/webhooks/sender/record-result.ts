import { idPrefixes } from '@simplane/contract';
import type { Logger } from 'pino';
import type { Database } from '../../../platform/db/database.ts';
import { createGroupCommit, type GroupCommit } from '../../../platform/db/group-commit.ts';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import { lowestUuidAt, unixMsOf } from '../../../platform/ids/uuid-range.ts';
import type { NewUuid } from '../../../platform/ids/uuid-v7.ts';
import { logPlain } from '../../../platform/telemetry/log.ts';
import { disableEndpoint } from '../endpoints/disable.ts';
import type { FailureRule } from '../endpoints/report-health.ts';
import { createPromoter } from '../ordered/promote.ts';
import type { AttemptResult } from './attempt.ts';
import { dropOnceStored } from './endpoint-claims.ts';
import { disabledReason, shouldDisable } from './health.ts';
import type { Parts } from './parts.ts';
import { nextDelayMs } from './retry.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';
import { type EndpointHealth, type Settled, settleDeliveries } from './sql/settle-deliveries.ts';

export type ResultOptions = {
  newUuid: NewUuid;
  retryScheduleMs: number[];
  disableRule: FailureRule;
  random: () => number;
  /** Called after each attempt is written. */
  onAttempt(settled: Settled): void;
  /** Called after an endpoint was disabled. */
  onDisabled(accountUuid: string): void;
  log: Logger;
};

export type RecordResult = ReturnType<typeof createResultRecorder>;

/** What an attempt's result means: for the endpoint's lane, its health, the delivery, and those that wait for it. */
export function createResultRecorder(deps: Parts & ResultOptions) {
  const { db, lanes, claims, ready, wake, leaseMs } = deps;
  const settle = createSettler(db);
  const promoteNext = createPromoter(db);

  /** Sends what waited for this delivery, at once: its id may be older than those claimed last. After an error, a chore does it. */
  async function sendNext(ended: ClaimedDelivery): Promise<void> {
    const { account_id: accountUuid, endpoint_id: endpointUuid, order_key: iccid } = ended;
    if (iccid === null) return;
    const next = await promoteNext({ accountUuid, endpointUuid, iccid }).catch(deps.onError);
    if (!next) return;
    claims.lookFrom(endpointUuid, lowestUuidAt(unixMsOf(next.deliveryUuid)));
    ready.add(endpointUuid, accountUuid);
    wake.proven();
    wake.unproven();
  }

  return async (delivery: ClaimedDelivery, result: AttemptResult, startedAtMs: number): Promise<void> => {
    const { endpoint_id: endpointUuid, account_id: accountUuid } = delivery;
    const pauseMs = lanes.finished(endpointUuid, result.ok);
    const mayHaveMore = ready.has(endpointUuid);
    if (!result.ok || mayHaveMore) ready.add(endpointUuid, accountUuid);
    if (result.ok && mayHaveMore) wake.proven();
    const settled = toSettled(deps, delivery, result, startedAtMs);
    const health = await dropOnceStored(claims, delivery, settle(settled), leaseMs);
    // If it cannot be disabled now, it is after the next failure.
    if (health && !result.ok) await disableIfDead(deps, health).catch(deps.onError);
    deps.onAttempt(settled);
    logAttempt(deps, delivery, settled, result);
    if (!result.ok) ready.addLater(endpointUuid, accountUuid, Math.max(pauseMs, settled.retryInMs ?? 0));
    if (settled.outcome !== 'pending') await sendNext(delivery);
  };
}

// A lone result costs PostgreSQL 370 µs, and one of five 110. A kill may repeat what was sent in this time.
const collectMs = 50;

/**
 * Writes results in batches; those that others wait for at once. Returns the endpoint's health for each result, or null if the
 * endpoint is not failing.
 */
function createSettler(db: Database): GroupCommit<Settled, EndpointHealth | null> {
  return createGroupCommit({
    async write(results: Settled[]) {
      const failing = await settleDeliveries(db, results);
      const healthOf = new Map(failing.map((health) => [health.id, health]));
      return results.map(({ delivery }) => healthOf.get(delivery.endpoint_id) ?? null);
    },
    mostInFlight: 1, // concurrent batches would block on a shared endpoint's row
    collectMs,
    isUrgent: ({ delivery }) => delivery.order_key !== null,
  });
}

/** The attempt's result as stored, with the delay before the next attempt. */
export function toSettled(
  { retryScheduleMs: scheduleMs, random }: Pick<ResultOptions, 'retryScheduleMs' | 'random'>,
  delivery: ClaimedDelivery,
  result: AttemptResult,
  startedAtMs: number,
): Settled {
  const attempts = delivery.attempt_count + 1;
  const { ok, statusCode, error, excerpt, durationMs, retryAfterMs } = result;
  const retryInMs = ok ? null : nextDelayMs({ attempts, scheduleMs, retryAfterMs, random: random() });
  return {
    delivery,
    outcome: ok ? 'succeeded' : retryInMs === null ? 'failed' : 'pending',
    retryInMs,
    at: new Date(startedAtMs),
    durationMs,
    statusCode,
    error,
    excerpt,
  };
}

/** Disables an endpoint that has failed for too long. */
async function disableIfDead(options: Parts & ResultOptions, health: EndpointHealth): Promise<void> {
  const state = { failingSince: health.failing_since, failureCount: health.failure_count };
  const at = new Date(options.clock.nowMs());
  if (!shouldDisable(state, options.disableRule, at)) return;
  const reason = disabledReason(state, health.last_error);
  const endpoint = { accountUuid: health.account_id, endpointUuid: health.id, reason, at };
  if (!(await options.db.transaction((tx) => disableEndpoint(tx, endpoint, options)))) return;
  options.onDisabled(health.account_id);
  options.log.warn(
    {
      webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, health.id),
      account_id: idOfUuid(idPrefixes.account, health.account_id),
      failing_since: health.failing_since,
      failure_count: health.failure_count,
      last_error: health.last_error,
    },
    'webhook endpoint disabled',
  );
}

/** One wide line per attempt. Omits the URL: its path and query may contain the receiver's secrets. */
function logAttempt(
  { log }: Pick<ResultOptions, 'log'>,
  delivery: ClaimedDelivery,
  settled: Settled,
  { cause }: AttemptResult,
): void {
  const { statusCode, error } = settled;
  const fields = {
    delivery_id: idOfUuid('dlv', delivery.id),
    event_id: idOfUuid('evt', delivery.event_id),
    webhook_endpoint_id: idOfUuid('we', delivery.endpoint_id),
    account_id: idOfUuid('acct', delivery.account_id),
    attempt: delivery.attempt_count + 1,
    outcome: settled.outcome,
    status: statusCode ?? undefined,
    duration_ms: settled.durationMs,
    retry_in_ms: settled.retryInMs ?? undefined,
  };
  if (error === null && cause === undefined) logPlain(log, fields, 'delivery');
  else log.info({ ...fields, error: error ?? undefined, cause }, 'delivery');
}
