import { openApiDocument } from '@simplane/contract';
import { docsContentSecurityPolicy, renderDocsPage } from '@simplane/reference';
import type { FastifyInstance } from 'fastify';
import type { Service } from '../background/service.ts';
import { createReadiness } from './readiness.ts';
import { staticPage } from './static-page.ts';

/** Probes, which need no key. */
export function serveOperationalRoutes(app: FastifyInstance, service: Service): void {
  const readiness = createReadiness(service);
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', readiness);
  app.get('/healthz', readiness);
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
