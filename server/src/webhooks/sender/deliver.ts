import { idPrefixes } from '@simplane/contract';
import type { Logger } from 'pino';
import type { Dispatcher } from 'undici';
import { type Clock, unixSeconds } from '../../clock.ts';
import type { Database } from '../../db/database.ts';
import { idOfUuid } from '../../ids/uuid.ts';
import type { NewUuid } from '../../ids/uuid-v7.ts';
import { onAbort } from '../../worker/deadline.ts';
import { disableEndpoint } from '../endpoints/disable.ts';
import type { Names, Resolved } from '../names/names.ts';
import { type AttemptResult, attempt, placeOf, type Unsent } from './attempt.ts';
import { type DisableRule, disabledReason, shouldDisable } from './health.ts';
import { nextDelayMs } from './retry.ts';
import { type SigningKeys, signatureHeaders } from './sign.ts';
import type { ClaimedDelivery, EndpointHealth, Settled } from './sql.ts';

/** What one delivery needs. */
export type DeliverOptions = {
  db: Database;
  clock: Clock;
  newUuid: NewUuid;
  /** The keys behind what is stored of an endpoint's secrets. */
  signingKeys(delivery: ClaimedDelivery): SigningKeys[] | Promise<SigningKeys[]>;
  /** Connections are an account's own: another's slow receiver on the same host must not hold them. */
  dispatcherOf(accountUuid: string): Dispatcher;
  names: Names;
  /** Whether what this address answers may be shown to the endpoint's owner. */
  mayShowResponse(address: string): boolean;
  userAgent: string;
  timeoutMs: number;
  retryScheduleMs: number[];
  disableRule: DisableRule;
  random: () => number;
  /** Told of every attempt, once it is written. */
  onAttempt(settled: Settled): void;
  log: Pick<Logger, 'info'>;
};

type Found = { addresses: readonly string[] } | AttemptResult | Unsent;

/** The addresses to send a delivery to, or how it ended before anything was sent. At once where the name is known. */
export function findAddresses(
  { names }: DeliverOptions,
  { account_id: accountUuid, url }: ClaimedDelivery,
  stopping: AbortSignal,
): Found | Promise<Found> {
  const answer = names.resolve(accountUuid, placeOf(url).hostname);
  if (!(answer instanceof Promise)) return toFound(answer, performance.now());
  const startedAtMs = performance.now();
  return unlessStopped(answer, stopping).then((resolved) => toFound(resolved, startedAtMs));
}

function toFound(resolved: Resolved, startedAtMs: number): Found {
  if (resolved.kind === 'found') return resolved;
  if (resolved.kind === 'unasked') return { unsent: resolved.why, isFault: resolved.isFault };
  const durationMs = Math.round(performance.now() - startedAtMs);
  return { ...unanswered, error: resolved.error, durationMs };
}

const unanswered = { ok: false, statusCode: null, excerpt: null, retryAfterMs: null };

function unlessStopped(answer: Promise<Resolved>, stopping: AbortSignal): Promise<Resolved> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(stopping, () => resolve({ kind: 'unasked', why: 'stopping', isFault: false }));
    answer.then(resolve, reject).finally(() => forget());
  });
}

/** Every attempt is signed anew, with its own time. */
export function sendOnce(
  options: DeliverOptions,
  delivery: ClaimedDelivery,
  addresses: readonly string[],
  stopping: AbortSignal,
): Promise<AttemptResult | Unsent> {
  const keys = options.signingKeys(delivery);
  if (!(keys instanceof Promise)) return send(options, delivery, addresses, keys, stopping);
  return keys.then((opened) => send(options, delivery, addresses, opened, stopping));
}

function send(
  options: DeliverOptions,
  delivery: ClaimedDelivery,
  addresses: readonly string[],
  secrets: SigningKeys[],
  stopping: AbortSignal,
): Promise<AttemptResult | Unsent> {
  const { mayShowResponse, userAgent, timeoutMs, clock } = options;
  const nowMs = clock.nowMs();
  const signed = {
    eventId: idOfUuid(idPrefixes.event, delivery.event_id),
    body: delivery.body,
    atSeconds: unixSeconds(nowMs),
    secrets,
  };
  const headers = {
    'content-type': 'application/json',
    'user-agent': userAgent,
    ...signatureHeaders(signed),
  };
  const { url, body } = delivery;
  const dispatcher = options.dispatcherOf(delivery.account_id);
  return attempt({ url, addresses, headers, body, dispatcher, mayShowResponse, timeoutMs, stopping, nowMs });
}

/** What is written of an attempt, and when the next one is due. */
export function toSettled(
  options: DeliverOptions,
  delivery: ClaimedDelivery,
  result: AttemptResult,
): Settled {
  const attempts = delivery.attempt_count + 1;
  const { retryScheduleMs: scheduleMs, random, clock } = options;
  const { ok, statusCode, error, excerpt, durationMs, retryAfterMs } = result;
  const retryInMs = ok ? null : nextDelayMs({ attempts, scheduleMs, retryAfterMs, random: random() });
  return {
    delivery,
    outcome: ok ? 'succeeded' : retryInMs === null ? 'failed' : 'pending',
    retryInMs,
    at: new Date(clock.nowMs()),
    durationMs,
    statusCode,
    error,
    excerpt,
  };
}

/** The verdict on an endpoint that has just failed again. */
export async function judge(
  options: DeliverOptions,
  health: EndpointHealth,
  last: AttemptResult,
): Promise<void> {
  const state = { failingSince: health.failing_since, failureCount: health.failure_count };
  const at = new Date(options.clock.nowMs());
  if (!shouldDisable(state, options.disableRule, at)) return;
  const reason = disabledReason(state, last);
  const place = { accountUuid: health.account_id, endpointUuid: health.id, reason, at };
  await options.db.transaction((tx) => disableEndpoint(tx, place, options));
}

/** One wide line an attempt. The URL stays out: its path and query may hold secrets of the receiver's. */
export function writeLogLine({ log }: DeliverOptions, delivery: ClaimedDelivery, settled: Settled): void {
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
      duration_ms: settled.durationMs,
      retry_in_ms: settled.retryInMs ?? undefined,
    },
    'delivery',
  );
}
