import type { AddressInfo } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import type { Service } from '../background/service.ts';
import { readMetricsOfAll } from '../platform/processes/siblings.ts';
import { limitConnections } from './limit-connections.ts';
import { shareCalls } from './share-calls.ts';

const defaultPort = 9400;
const maxConnections = 64; // few scrapers are expected

/** `/metrics` on its own port. Access is controlled by the network, not by this app. */
export function createMetricsApp(service: Service): FastifyInstance {
  const app = fastify({
    logger: false,
    requestTimeout: 10_000,
    http: { connectionsCheckingInterval: 1_000 },
  });
  limitConnections(app.server, { ...service, maxConnections });
  app.addHook('onRequest', (_, reply, done) => {
    reply.header('X-Content-Type-Options', 'nosniff');
    done();
  });
  const { registry } = service.metrics;
  // Each scrape costs a query, and clients must not take the pool from the API.
  const collect = shareCalls(readMetricsOfAll(registry));
  app.get('/metrics', async (_, reply) => reply.type(registry.contentType).send(await collect()));
  app.route({
    method: app.supportedMethods.filter((method) => method !== 'GET' && method !== 'HEAD'),
    url: '/metrics',
    handler: (_, reply) => reply.code(405).header('Allow', 'GET, HEAD').send(),
  });
  return app;
}

/** Returns null if metrics are off, or if no port was chosen and another process has the default one. */
export async function startMetrics(
  service: Service,
  host: string,
  chosenPort: number | 'off' | null,
): Promise<FastifyInstance | null> {
  if (chosenPort === 'off') return null;
  const app = createMetricsApp(service);
  try {
    await app.listen({ host, port: chosenPort ?? defaultPort });
  } catch (error) {
    await app.close();
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    const problem = `metrics: port ${chosenPort ?? defaultPort} of ${host} is in use`;
    if (chosenPort !== null)
      throw new Error(`${problem}; set SIMPLANE_METRICS_PORT to a free port, or to off`);
    service.log.warn(
      `${problem}, so this process serves none; set SIMPLANE_METRICS_PORT to another port, or to off`,
    );
    return null;
  }
  const { port } = app.server.address() as AddressInfo;
  service.log.info({ host, port }, 'serving /metrics');
  return app;
}
