import type { FastifyInstance, InjectOptions } from 'fastify';

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * A `fetch` that calls the app’s own routes without a socket: same checks, same responses, same log lines. The calls come from
 * the address of the client that caused them.
 */
export function fetchFrom(app: FastifyInstance, address: string): Fetch {
  return async (url, { method = 'GET', headers, body, signal }) => {
    const { pathname, search } = new URL(url);
    const answer = await app.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: pathname + search,
      remoteAddress: address,
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === 'string' && { payload: body }),
      ...(signal && { signal }),
    });
    const given = Object.entries(answer.headers).map(
      ([name, value]) => [name, String(value)] as [string, string],
    );
    return new Response(new Uint8Array(answer.rawPayload), { status: answer.statusCode, headers: given });
  };
}
