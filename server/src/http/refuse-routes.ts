import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Service } from '../background/service.ts';
import { AppError } from '../platform/app-error.ts';
import { sendFrontPage, wantsFrontPage } from './front-page.ts';

/**
 * Refuses unknown routes, and other methods of the routes registered from now on, except those of plugins. Runs before authentication
 * and body parsing, which neither needs.
 */
export function refuseUnknownRoutes(app: FastifyInstance, service: Service): void {
  const hasPages = service.role !== 'worker';
  const methodsAt = collectMethods(app);
  // Reached by a browser at `/` only: the hook refuses everything else.
  app.setNotFoundHandler((_request, reply) => sendFrontPage(service, reply));
  app.addHook('onRequest', (request, _reply, done) =>
    done(hasPages && request.is404 && wantsFrontPage(request) ? undefined : refusalOf(request, methodsAt)),
  );
}

function refusalOf(request: FastifyRequest, methodsAt: (path: string) => string[]): AppError | undefined {
  if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
    return new AppError('request_malformed', 'The Host header is missing; HTTP/1.1 requires it.');
  }
  const path = request.url.split('?', 1)[0] ?? '';
  const allow = request.is404 ? methodsAt(path).join(', ') : request.routeOptions.config.allow;
  if (allow) {
    return new AppError('method_not_allowed', `${request.method} is not allowed here; use ${allow}.`, {
      headers: { Allow: allow },
    });
  }
  if (!request.is404) return undefined;
  return new AppError(
    'route_missing',
    `There is no route ${request.method} ${path.slice(0, 100)}; /docs lists all routes.`,
  );
}

/**
 * Returns the methods of a path. Looked for only when a request has no route: a route for each other method, to answer it with 405,
 * took a ninth of the CPU of a start.
 */
function collectMethods(app: FastifyInstance): (path: string) => string[] {
  const known = new Map<string, { parts: string[]; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    const route = known.get(url) ?? { parts: url.split('/'), methods: new Set() };
    for (const name of [method].flat()) route.methods.add(name);
    known.set(url, route);
  });
  return (path) => {
    const parts = path.split('/');
    const fits = (one: string, index: number) =>
      one === '*' || (one.startsWith(':') ? parts[index] !== '' : one === parts[index]);
    const routes = [...known.values()].filter((route) => {
      const isLong = route.parts.at(-1) === '*' && parts.length > route.parts.length;
      return (isLong || parts.length === route.parts.length) && route.parts.every(fits);
    });
    return [...new Set(routes.flatMap(({ methods }) => [...methods]))];
  };
}
