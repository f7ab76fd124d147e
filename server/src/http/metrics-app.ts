import { type FastifyInstance, fastify } from 'fastify';
import type { Service } from '../service.ts';
import { sendMetrics } from './operational-routes.ts';

/** `/metrics` on its own port. Access is controlled by the network, not by this app. */
export function createMetricsApp(service: Service): FastifyInstance {
  const app = fastify({ logger: false, requestTimeout: 10_000, connectionTimeout: 30_000 });
  app.server.maxConnections = 64; // few scrapers are expected, and each response costs a query
  app.get('/metrics', (_, reply) => sendMetrics(service, reply));
  app.route({
    method: app.supportedMethods.filter((method) => method !== 'GET' && method !== 'HEAD'),
    url: '/metrics',
    handler: (_, reply) => reply.code(405).header('Allow', 'GET, HEAD').send(),
  });
  return app;
}
