import { idPrefixes } from '@simplane/contract';
import type { Logger } from 'pino';
import type { Dispatcher } from 'undici';
import { type Clock, unixSeconds } from '../../clock.ts';
import type { Database } from '../../db/database.ts';
import { idOfUuid } from '../../ids/uuid.ts';
import type { NewUuid } from '../../ids/uuid-v7.ts';
import { onAbort } from '../../worker/deadline.ts';
import { disableEndpoint } from '../endpoints/disable.ts';
import type { FailureRule } from '../endpoints/report-health.ts';
import type { Names, Resolved } from '../names/names.ts';
import { type AttemptResult, attempt, parseUrl, type Unsent } from './attempt.ts';
import { disabledReason, shouldDisable } from './health.ts';
import { nextDelayMs } from './retry.ts';
import { type SigningKeys, signatureHeaders } from './sign.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';
import type { EndpointHealth, Settled } from './sql/settle-deliveries.ts';

export type DeliverOptions = {
  db: Database;
  clock: Clock;
  newUuid: NewUuid;
  /** The unsealed keys of the delivery's endpoint. */
  signingKeys(delivery: ClaimedDelivery): SigningKeys[] | Promise<SigningKeys[]>;
  /** One per account, so another account's slow receiver on the same host cannot use up its connections. */
  dispatcherOf(accountUuid: string): Dispatcher;
  names: Names;
  /** Whether the endpoint's owner may see responses from this address. */
  mayShowResponse(address: string): boolean;
  userAgent: string;
  timeoutMs: number;
  retryScheduleMs: number[];
  disableRule: FailureRule;
  random: () => number;
  /** Called after each attempt is written. */
  onAttempt(settled: Settled): void;
  /** Called after an endpoint was disabled. */
  onDisabled(): void;
  log: Pick<Logger, 'info' | 'warn'>;
};

type HostResult = { addresses: readonly string[] } | AttemptResult | Unsent;

/** Resolves the delivery's host, or returns how the attempt ended without it. Synchronous for a cached name. */
export function resolveHost(
  { names }: DeliverOptions,
  { account_id: accountUuid, url }: ClaimedDelivery,
  stopping: AbortSignal,
): HostResult | Promise<HostResult> {
  const answer = names.resolve(accountUuid, parseUrl(url).hostname);
  if (!(answer instanceof Promise)) return toHostResult(answer, performance.now());
  const startedAtMs = performance.now();
  return unlessStopped(answer, stopping).then((resolved) => toHostResult(resolved, startedAtMs));
}

function toHostResult(resolved: Resolved, startedAtMs: number): HostResult {
  if (resolved.kind === 'found') return resolved;
  if (resolved.kind === 'unknown') return { unsent: resolved.reason, isFault: resolved.isFault };
  const durationMs = Math.round(performance.now() - startedAtMs);
  return { ...noResponse, error: resolved.error, durationMs };
}

const noResponse = { ok: false, statusCode: null, excerpt: null, retryAfterMs: null };

function unlessStopped(answer: Promise<Resolved>, stopping: AbortSignal): Promise<Resolved> {
  return new Promise((resolve, reject) => {
    const dispose = onAbort(stopping, () => resolve({ kind: 'unknown', reason: 'stopping', isFault: false }));
    answer.then(resolve, reject).finally(() => dispose());
  });
}

/** Signs and sends one attempt; each attempt gets its own signature and timestamp. */
export function send(
  options: DeliverOptions,
  delivery: ClaimedDelivery,
  addresses: readonly string[],
  stopping: AbortSignal,
): Promise<AttemptResult | Unsent> {
  const keys = options.signingKeys(delivery);
  if (!(keys instanceof Promise)) return sendSigned(options, delivery, addresses, keys, stopping);
  return keys.then((opened) => sendSigned(options, delivery, addresses, opened, stopping));
}

function sendSigned(
  options: DeliverOptions,
  delivery: ClaimedDelivery,
  addresses: readonly string[],
  secrets: SigningKeys[],
  stopping: AbortSignal,
): Promise<AttemptResult | Unsent> {
  const { mayShowResponse, userAgent, timeoutMs, clock } = options;
  const nowMs = clock.nowMs();
  const toSign = {
    eventId: idOfUuid(idPrefixes.event, delivery.event_id),
    body: delivery.body,
    atSeconds: unixSeconds(nowMs),
    secrets,
  };
  const headers = {
    'content-type': 'application/json',
    'user-agent': userAgent,
    ...signatureHeaders(toSign),
  };
  const { url, body } = delivery;
  const dispatcher = options.dispatcherOf(delivery.account_id);
  return attempt({ url, addresses, headers, body, dispatcher, mayShowResponse, timeoutMs, stopping, nowMs });
}

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
