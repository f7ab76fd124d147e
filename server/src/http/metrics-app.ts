import { type FastifyInstance, fastify } from 'fastify';
import type { Service } from '../service.ts';
import { sendMetrics } from './operational-routes.ts';

/** `/metrics` on a port of its own, where the network decides who may read it. */
export function createMetricsApp(service: Service): FastifyInstance {
  const app = fastify({ logger: false, requestTimeout: 10_000, connectionTimeout: 30_000 });
  app.server.maxConnections = 64; // scrapers are few, and each answer costs a query
  app.get('/metrics', (_, reply) => sendMetrics(service, reply));
  return app;
}
