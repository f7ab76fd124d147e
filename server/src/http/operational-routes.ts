import { openApiDocument } from '@simplane/contract';
import { docsContentSecurityPolicy, renderDocsPage } from '@simplane/reference';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { AppError } from '../app-error.ts';
import type { Service } from '../service.ts';
import { isLocalScrape } from './is-local-scrape.ts';
import { staticPage } from './static-page.ts';

/** Routes without a key: probes, and metrics for clients on this machine. */
export function serveOperationalRoutes(app: FastifyInstance, service: Service): void {
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', () => readiness(service));
  app.get('/healthz', () => readiness(service));
  if (service.metricsOnApi) {
    app.get('/metrics', (request, reply) => {
      if (!isLocalScrape(request.raw)) {
        throw new AppError(
          'route_missing',
          'Metrics are served only to clients on this machine, and not through a proxy.',
        );
      }
      return sendMetrics(service, reply);
    });
  }
}

export function serveDescription(app: FastifyInstance, service: Service): void {
  app.get(
    '/openapi.json',
    staticPage({
      type: 'application/json',
      // For viewers and generators that run in a browser. `/v1` allows no other origin: an API key in a web page is public.
      headers: { 'Access-Control-Allow-Origin': '*' },
      version: () => '',
      render: () => JSON.stringify(openApiDocument()),
    }),
  );
  app.get(
    '/docs',
    staticPage({
      type: 'text/html; charset=utf-8',
      headers: { 'Content-Security-Policy': docsContentSecurityPolicy },
      version: () => service.publicUrl(),
      render: (baseUrl) => renderDocsPage(openApiDocument(), { baseUrl }),
    }),
  );
}

export async function sendMetrics({ metrics: { registry } }: Service, reply: FastifyReply) {
  return reply.type(registry.contentType).send(await registry.metrics());
}

async function readiness({ db, isStopping, missingKeys }: Service) {
  if (isStopping())
    throw new AppError('unavailable', 'This process is shutting down; retry shortly.', {
      headers: { 'Retry-After': '1' },
    });
  if (missingKeys.length > 0)
    throw new AppError(
      'unavailable',
      `Stored secrets need encryption keys that this process does not have: ${missingKeys.join(', ')}. Its log says what to do.`,
    );
  await db.ping();
  return { status: 'ok' };
}
