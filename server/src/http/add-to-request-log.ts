import { type ErrorBody, isWrite, type Operation } from '@simplane/contract';
import type { FastifyRequest } from 'fastify';
import type { Service } from '../background/service.ts';
import type { RequestLine } from '../views/request-log/buffer.ts';
import { wayOf } from './audit-write.ts';
import { errorForLog } from './error-for-log.ts';
import { createTokenBuckets, takeToken } from './token-buckets.ts';

type Ended = { status: number; durationMs: number; path: string; wasSent: boolean };

// A client that ignores 429 would fill the log with them.
const limitedPerSecond = 5;
const maxAccounts = 10_000;
const maxCreatedIds = 20;

/** Adds a request of an account's key to the request log, if the level asks for it. */
export function createRequestLogger(
  { requestLog }: Pick<Service, 'requestLog'>,
  operations: Record<string, Operation>,
) {
  const { level } = requestLog;
  const idOf = new Map(Object.entries(operations).map(([id, definition]) => [definition, id]));
  const bucketOf = createTokenBuckets({
    perSecond: limitedPerSecond,
    burst: limitedPerSecond,
    limit: maxAccounts,
    monotonicMs: () => performance.now(),
  });

  return (request: FastifyRequest, ended: Ended): void => {
    const account = request.caller?.account;
    if (level === 'off' || !account || !request.caller) return;
    const { operation } = request.routeOptions.config;
    const { status, durationMs, path, wasSent } = ended;
    if (status < 400 && level !== 'all' && (level === 'errors' || !operation || !isWrite(operation))) return;
    if (status === 429 && !takeToken(bucketOf(account.uuid))) return;
    if (!requestLog.hasRoom(status)) return;
    requestLog.add({
      accountUuid: account.uuid,
      id: request.id,
      apiKeyUuid: request.caller.apiKey.uuid,
      method: request.method,
      path,
      operation: (operation && idOf.get(operation)) ?? '',
      via: operation ? wayOf(request) : 'agent',
      status,
      error: status >= 400 && wasSent ? errorOf(request) : null,
      durationMs,
      idempotency: idempotencyOf(request),
      createdIds: status < 300 && request.idempotency === 'fresh' ? createdIdsOf(request) : none,
      ip: request.ip ?? null, // a closed socket may no longer have it
    });
  };
}

const none: string[] = [];

function idempotencyOf(request: FastifyRequest): RequestLine['idempotency'] {
  if (request.headers['idempotency-key'] === undefined) return null;
  return request.refusal?.code.startsWith('idempotency_') ? 'refused' : request.idempotency;
}

function errorOf({ refusal, storedError }: FastifyRequest): RequestLine['error'] {
  if (refusal) return { code: refusal.code, ...errorForLog(refusal.message, refusal.param) };
  if (storedError === null) return null;
  const { code, message, param } = (JSON.parse(storedError) as ErrorBody).error;
  return { code, ...errorForLog(message, param) };
}

const ownId = /^[a-z]+_[0-9a-z]{26}$/;

/** The ids in the response, except those that the request itself named. */
function createdIdsOf({ rendered, url }: FastifyRequest): string[] {
  const { object, data } = (rendered ?? {}) as { object?: unknown; data?: unknown[] };
  const ids = (object === 'event_replays' && data ? data : [rendered]).flatMap(idsIn);
  const isNew = (one: unknown): one is string =>
    typeof one === 'string' && ownId.test(one) && !url.includes(one);
  return ids.filter(isNew).slice(0, maxCreatedIds);
}

function idsIn(created: unknown): unknown[] {
  const { id, deliveries } = (created ?? {}) as { id?: unknown; deliveries?: (string | { id: string })[] };
  if (!Array.isArray(deliveries)) return [id];
  return deliveries.map((one) => (typeof one === 'string' ? one : one.id));
}
