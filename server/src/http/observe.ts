import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Service } from '../service.ts';

/** One wide log line and one measurement a request. Queries, bodies and headers stay out: they may hold secrets. */
export function observeRequests(app: FastifyInstance, { log, metrics }: Service): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    const { method, caller, refusal } = request;
    const durationMs = reply.elapsedTime;
    metrics.requestDuration.observe(
      { http_request_method: method, http_route: route, http_response_status_code: reply.statusCode },
      durationMs / 1000,
    );
    if (refusal) metrics.errorCount.inc({ error_type: refusal.code });
    if (request.idempotency === 'replayed') metrics.replayCount.inc();
    const failed = reply.statusCode >= 500;
    log[failed ? 'error' : 'info'](
      {
        request_id: request.id,
        method,
        route,
        path: pathOf(request),
        status: reply.statusCode,
        duration_ms: Math.round(durationMs * 1000) / 1000,
        account_id: caller?.account.id,
        key_id: caller?.apiKey.id,
        idempotency: request.idempotency ?? undefined,
        error_code: refusal?.code,
        error_param: refusal?.param,
        cause: failed ? causeOf(refusal?.cause) : undefined,
      },
      'request',
    );
  });
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0]?.slice(0, 200) ?? '';
}

/** A database error's message may quote values; its stack and code say where to look. */
function causeOf(cause: unknown) {
  if (!(cause instanceof Error)) return cause === undefined ? undefined : { type: typeof cause };
  const { code } = cause as NodeJS.ErrnoException;
  return { type: cause.name, code, message: cause.message, stack: cause.stack };
}
