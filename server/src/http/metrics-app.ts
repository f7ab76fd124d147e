import { type FastifyInstance, fastify } from 'fastify';
import type { Service } from '../service.ts';
import { serveMetrics } from './operational-routes.ts';

/** `/metrics` on a port of its own, where the network decides who may read it. */
export function createMetricsApp(service: Service): FastifyInstance {
  const app = fastify({ logger: false });
  serveMetrics(app, service, () => true);
  return app;
}
