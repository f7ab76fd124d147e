import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Service } from '../service.ts';
import { describeCause } from '../telemetry/describe-cause.ts';

/** One wide log line and one measurement a request. Queries, bodies and headers stay out: they may hold secrets. */
export function createRecorder({ log, metrics }: Service) {
  return (request: FastifyRequest, reply: FastifyReply, wasSent: boolean): void => {
    const durationMs = performance.now() - request.startedMs;
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    const { method, caller, refusal } = request;
    const status = wasSent ? reply.statusCode : clientClosedRequest;
    metrics.requestDuration.observe(
      { http_request_method: method, http_route: route, http_response_status_code: status },
      durationMs / 1000,
    );
    if (refusal && wasSent) metrics.errorCount.inc({ error_type: refusal.code });
    if (request.idempotency === 'replayed') metrics.replayCount.inc();
    const failed = status >= 500;
    log[failed ? 'error' : 'info'](
      {
        request_id: request.id,
        method,
        route,
        path: pathForLog(request.url),
        status,
        duration_ms: Math.round(durationMs * 1000) / 1000,
        account_id: caller?.account.id,
        key_id: caller?.apiKey.id,
        idempotency: request.idempotency ?? undefined,
        error_code: wasSent ? refusal?.code : undefined,
        error_param: wasSent ? refusal?.param : undefined,
        cause: failed ? describeCause(refusal?.cause) : undefined,
      },
      'request',
    );
  };
}

// What proxies write for a client that left before its answer; the work itself may have been done.
const clientClosedRequest = 499;

const longestPath = 200;

// Words of the API, our ids, ICCIDs, most product ids. Keys and activation codes have capitals or `$`, or are longer; matching
// ids have groups with a `-` between them.
const plainPath = /^(?:\/[a-z0-9_.]{0,40})+$/;
const plainPart = /^[a-z0-9_.]{0,40}$/;

/** A request's path without the query. Parts that look like neither a word nor an id may be secrets, and become `*`. */
function pathForLog(url: string): string {
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  if (path.length <= longestPath && plainPath.test(path)) return path;
  const parts = path.slice(0, longestPath).split('/');
  return parts.map((part) => (plainPart.test(part) ? part : '*')).join('/');
}
