import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Service } from '../background/service.ts';
import { AppError } from '../platform/app-error.ts';
import { sendFrontPage, wantsFrontPage } from './front-page.ts';

/** Runs before authentication and body parsing, which an unknown route does not need. */
export function refuseUnknownRoutes(app: FastifyInstance, service: Service): void {
  const hasPages = service.role !== 'worker';
  // Reached by a browser at `/` only: the hook refuses everything else.
  app.setNotFoundHandler((_request, reply) => sendFrontPage(service, reply));
  app.addHook('onRequest', (request, _reply, done) =>
    done(hasPages && request.is404 && wantsFrontPage(request) ? undefined : refusalOf(request)),
  );
}

function refusalOf(request: FastifyRequest): AppError | undefined {
  if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
    return new AppError('request_malformed', 'The Host header is missing; HTTP/1.1 requires it.');
  }
  if (request.is404) {
    const path = request.url.split('?', 1)[0]?.slice(0, 100);
    return new AppError(
      'route_missing',
      `There is no route ${request.method} ${path}; /docs lists all routes.`,
    );
  }
  const { allow } = request.routeOptions.config;
  if (!allow) return undefined;
  return new AppError('method_not_allowed', `${request.method} is not allowed here; use ${allow}.`, {
    headers: { Allow: allow },
  });
}

/** Watches which routes are registered from now on, except those of plugins; the result answers their other methods with 405. */
export function collectMethods(app: FastifyInstance): () => void {
  const methodsOf = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsOf.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    methodsOf.set(url, methods);
  });
  return () => {
    for (const [url, methods] of [...methodsOf]) {
      const allow = [...methods].join(', ');
      app.route({
        method: app.supportedMethods.filter((method) => !methods.has(method)),
        url,
        config: { allow },
        handler: () => Promise.reject(new Error('refused before the handler')),
      });
    }
  };
}
