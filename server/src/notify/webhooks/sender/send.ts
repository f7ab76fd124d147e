import { idPrefixes } from '@simplane/contract';
import type { Dispatcher } from 'undici';
import { type Clock, unixSeconds } from '../../../platform/clock.ts';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import { onAbort } from '../../../platform/worker/deadline.ts';
import type { Names, Resolved } from '../names/names.ts';
import { type AttemptResult, attempt, parseUrl, type Unsent } from './attempt.ts';
import { type SigningKeys, signatureHeaders } from './sign.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';

/** What is sent, and to whom: a delivery, or a test request. */
export type Message = Pick<
  ClaimedDelivery,
  'account_id' | 'endpoint_id' | 'event_id' | 'is_test' | 'body' | 'url' | 'secrets'
>;

export type SendOptions = {
  clock: Clock;
  /** The unsealed keys of the message's endpoint. */
  signingKeys(message: Message): SigningKeys[] | Promise<SigningKeys[]>;
  /** One per account, so another account's slow receiver on the same host cannot use up its connections. */
  dispatcherOf(accountUuid: string): Dispatcher;
  names: Names;
  /** Whether the endpoint's owner may see responses from this address. */
  mayShowResponse(address: string): boolean;
  userAgent: string;
  timeoutMs: number;
};

type HostResult = { addresses: readonly string[] } | AttemptResult | Unsent;

/** Resolves the message's host, or returns how the attempt ended without it. Synchronous for a cached name. */
export function resolveHost(
  { names }: Pick<SendOptions, 'names'>,
  { account_id: accountUuid, url }: Pick<Message, 'account_id' | 'url'>,
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
  options: SendOptions,
  message: Message,
  addresses: readonly string[],
  stopping: AbortSignal,
): Promise<AttemptResult | Unsent> {
  const keys = options.signingKeys(message);
  if (!(keys instanceof Promise)) return sendSigned(options, message, addresses, keys, stopping);
  return keys.then((opened) => sendSigned(options, message, addresses, opened, stopping));
}

function sendSigned(
  options: SendOptions,
  message: Message,
  addresses: readonly string[],
  secrets: SigningKeys[],
  stopping: AbortSignal,
): Promise<AttemptResult | Unsent> {
  const { mayShowResponse, userAgent, timeoutMs, clock } = options;
  const nowMs = clock.nowMs();
  const toSign = {
    eventId: idOfUuid(idPrefixes.event, message.event_id),
    body: message.body,
    atSeconds: unixSeconds(nowMs),
    secrets,
  };
  const headers = {
    'content-type': 'application/json',
    'user-agent': userAgent,
    ...(message.is_test && { 'service-test': 'true' }),
    ...signatureHeaders(toSign),
  };
  const { url, body } = message;
  const dispatcher = options.dispatcherOf(message.account_id);
  return attempt({ url, addresses, headers, body, dispatcher, mayShowResponse, timeoutMs, stopping, nowMs });
}
