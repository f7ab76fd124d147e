import { openApiDocument } from '@simplane/contract';
import { docsContentSecurityPolicy, renderDocsPage } from '@simplane/reference';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../app-error.ts';
import type { Service } from '../service.ts';
import { staticPage } from './static-page.ts';

/** Probes, which need no key. */
export function serveOperationalRoutes(app: FastifyInstance, service: Service): void {
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', () => readiness(service));
  app.get('/healthz', () => readiness(service));
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

async function readiness({ db, isStopping, missingKeys, clockTrouble }: Service) {
  if (isStopping())
    throw new AppError('unavailable', 'This process is shutting down; retry shortly.', {
      headers: { 'Retry-After': '1' },
    });
  if (missingKeys.length > 0)
    throw new AppError(
      'unavailable',
      'Stored secrets need encryption keys that this process does not have. Its log names them and says what to do.',
    );
  const trouble = clockTrouble();
  if (trouble !== null) throw new AppError('unavailable', trouble);
  await db.ping();
  return { status: 'ok' };
}
