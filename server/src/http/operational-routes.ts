import { openApiDocument } from '@simplane/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../app-error.ts';
import type { Service } from '../service.ts';
import { docsContentSecurityPolicy, renderDocsPage } from './docs/page.ts';

/** What needs no key: probes, metrics for the machine itself, and the description of the API. */
export function serveOperationalRoutes(app: FastifyInstance, service: Service): void {
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', () => readiness(service));
  app.get('/healthz', () => readiness(service));
  if (service.metricsOnApi) serveMetrics(app, service, isLoopback);
}

export function serveDescription(app: FastifyInstance, service: Service): void {
  const document = openApiDocument();
  const json = JSON.stringify(document);
  app.get('/openapi.json', (_, reply) => reply.type('application/json').send(json));
  let page = { url: '', html: '' };
  app.get('/docs', (_, reply) => {
    const url = service.publicUrl();
    if (page.url !== url) page = { url, html: renderDocsPage(document, { baseUrl: url }) };
    return reply
      .type('text/html; charset=utf-8')
      .header('Content-Security-Policy', docsContentSecurityPolicy)
      .header('X-Content-Type-Options', 'nosniff')
      .send(page.html);
  });
}

export function serveMetrics(
  app: FastifyInstance,
  { metrics }: Service,
  mayRead: (request: FastifyRequest) => boolean,
): void {
  app.get('/metrics', async (request, reply) => {
    if (!mayRead(request))
      throw new AppError('route_missing', 'Metrics are served to loopback clients only.');
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
}

async function readiness({ db, isStopping }: Service) {
  if (isStopping())
    throw new AppError('unavailable', 'This process is shutting down.', { headers: { 'Retry-After': '1' } });
  await db.ping();
  return { status: 'ok' };
}

/** A proxy on this machine also connects from loopback, but it says for whom. */
function isLoopback({ socket, headers }: FastifyRequest): boolean {
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  const forwarded = headers['x-forwarded-for'] ?? headers['forwarded'];
  return forwarded === undefined && (address === '::1' || address.startsWith('127.'));
}
