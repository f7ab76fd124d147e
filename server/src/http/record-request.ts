import type { Operation } from '@simplane/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Service } from '../background/service.ts';
import { describeCause } from '../platform/telemetry/describe-cause.ts';
import { logPlain } from '../platform/telemetry/log.ts';
import { redact } from '../platform/telemetry/redact.ts';
import { createRequestLogger } from './add-to-request-log.ts';
import { pathForLog } from './path-for-log.ts';

/**
 * One wide log line, one measurement and, by its level, a line of the request log per request. Queries, bodies and headers may
 * contain secrets and are left out.
 */
export function createRecorder(service: Service, operations: Record<string, Operation>) {
  const { log, metrics } = service;
  const logRequest = createRequestLogger(service, operations);
  return (request: FastifyRequest, reply: FastifyReply, wasSent: boolean): void => {
    const durationMs = performance.now() - request.startedMs;
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    const { method, caller, refusal } = request;
    // A stream ends when its client leaves, so that is no failure.
    const isStream = request.heldFromMs !== null && reply.raw.headersSent;
    const status = wasSent || isStream ? reply.statusCode : clientClosedRequest;
    const ownMs = (request.heldFromMs ?? performance.now()) - request.startedMs;
    metrics.requestDuration.observe(
      { http_request_method: method, http_route: route, http_response_status_code: status },
      ownMs / 1000,
    );
    metrics.throughput.count('requests');
    if (refusal && wasSent) metrics.errorCount.inc({ error_type: refusal.code });
    if (request.idempotency === 'replayed') metrics.replayCount.inc();
    const path = pathForLog(request.url);
    logRequest(request, { status, durationMs, path, wasSent });
    const fields = {
      request_id: request.id,
      method,
      route,
      path: path === route ? path : redact(path),
      status,
      duration_ms: Math.round(durationMs * 1000) / 1000,
      account_id: request.account?.id,
      key_id: caller?.apiKey.id,
      idempotency: request.idempotency ?? undefined,
    };
    const failed = status >= 500;
    if (!refusal && !failed) logPlain(log, fields, 'request');
    else {
      const error = {
        error_code: wasSent ? refusal?.code : undefined,
        error_param: wasSent ? refusal?.param : undefined,
        cause: failed ? describeCause(refusal?.cause) : undefined,
      };
      log[failed ? 'error' : 'info']({ ...fields, ...error }, 'request');
    }
  };
}

// nginx's status for a client that disconnected before the response; the work may still have been done.
const clientClosedRequest = 499;
