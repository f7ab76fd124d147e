import { idPrefixes } from '@simplane/contract';
import type { Logger } from 'pino';
import type { Database } from '../../../platform/db/database.ts';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import type { NewUuid } from '../../../platform/ids/uuid-v7.ts';
import { disableEndpoint } from '../endpoints/disable.ts';
import type { FailureRule } from '../endpoints/report-health.ts';
import type { AttemptResult } from './attempt.ts';
import { disabledReason, shouldDisable } from './health.ts';
import { nextDelayMs } from './retry.ts';
import type { SendOptions } from './send.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';
import type { EndpointHealth, Settled } from './sql/settle-deliveries.ts';

export type DeliverOptions = SendOptions & {
  db: Database;
  newUuid: NewUuid;
  retryScheduleMs: number[];
  disableRule: FailureRule;
  random: () => number;
  /** Called after each attempt is written. */
  onAttempt(settled: Settled): void;
  /** Called after an endpoint was disabled. */
  onDisabled(): void;
  log: Pick<Logger, 'info' | 'warn'>;
};

/** The attempt's result as stored, with the delay before the next attempt. */
export function toSettled(
  options: DeliverOptions,
  delivery: ClaimedDelivery,
  result: AttemptResult,
  startedAtMs: number,
): Settled {
  const attempts = delivery.attempt_count + 1;
  const { retryScheduleMs: scheduleMs, random } = options;
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
export async function disableIfDead(options: DeliverOptions, health: EndpointHealth): Promise<void> {
  const state = { failingSince: health.failing_since, failureCount: health.failure_count };
  const at = new Date(options.clock.nowMs());
  if (!shouldDisable(state, options.disableRule, at)) return;
  const reason = disabledReason(state, health.last_error);
  const endpoint = { accountUuid: health.account_id, endpointUuid: health.id, reason, at };
  if (!(await options.db.transaction((tx) => disableEndpoint(tx, endpoint, options)))) return;
  options.onDisabled();
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
export function logAttempt(
  { log }: DeliverOptions,
  delivery: ClaimedDelivery,
  settled: Settled,
  { cause }: AttemptResult,
): void {
  log.info(
    {
      delivery_id: idOfUuid('dlv', delivery.id),
      event_id: idOfUuid('evt', delivery.event_id),
      webhook_endpoint_id: idOfUuid('we', delivery.endpoint_id),
      account_id: idOfUuid('acct', delivery.account_id),
      attempt: delivery.attempt_count + 1,
      outcome: settled.outcome,
      status: settled.statusCode ?? undefined,
      error: settled.error ?? undefined,
      cause,
      duration_ms: settled.durationMs,
      retry_in_ms: settled.retryInMs ?? undefined,
    },
    'delivery',
  );
}
