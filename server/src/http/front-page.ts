import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Service } from '../background/service.ts';

/** Whether a browser asks for `/`. Other clients get an error in JSON, as for every unknown path. */
export function wantsFrontPage({ method, url, headers }: FastifyRequest): boolean {
  return method === 'GET' && url.split('?', 1)[0] === '/' && /\btext\/html\b/.test(headers.accept ?? '');
}

/** Leads a person who opened the server's address to what has a page. */
export function sendFrontPage({ hasDashboard }: Service, reply: FastifyReply): FastifyReply {
  const links = [
    '<li><a href="/docs">API reference</a></li>',
    ...(hasDashboard ? ['<li><a href="/dashboard">Dashboard</a></li>'] : []),
  ];
  return reply
    .headers({ 'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'", Vary: 'Accept' })
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Simplane</title><h1>Simplane</h1><ul>${links.join('')}</ul></html>\n`,
    );
}
