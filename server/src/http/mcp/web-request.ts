import type { FastifyRequest } from 'fastify';

/** What the protocol looks at. The key is not among it: it is checked already, and nothing else should hold it. */
const isForwarded = (name: string) => name === 'accept' || name === 'content-type' || name.startsWith('mcp-');

export function toWebRequest({ headers, body }: FastifyRequest, signal: AbortSignal): Request {
  const forwarded = Object.entries(headers)
    .filter(([name]) => isForwarded(name))
    .map(([name, value]) => [name, String(value)] as [string, string]);
  const bytes = new Uint8Array((body as Buffer | undefined) ?? Buffer.alloc(0));
  return new Request('http://localhost/mcp', { method: 'POST', headers: forwarded, body: bytes, signal });
}
