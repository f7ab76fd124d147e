import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { staticPage } from './static-page.ts';

test('a page is rendered once for what it is about, and again when that changes', async () => {
  const rendered: string[] = [];
  let version = 'one';
  const serve = staticPage({
    type: 'text/html',
    version: () => version,
    render(wanted) {
      rendered.push(wanted);
      return `page of ${wanted}`;
    },
  });
  async function get(): Promise<string> {
    const reply = { headers: () => reply, type: () => reply, send: String } as unknown as FastifyReply;
    return serve({ headers: {} } as FastifyRequest, reply) as unknown as Promise<string>;
  }
  expect([await get(), await get()]).toEqual(['page of one', 'page of one']);
  version = 'two';
  expect(await get()).toBe('page of two');
  expect(rendered).toEqual(['one', 'two']);
});
