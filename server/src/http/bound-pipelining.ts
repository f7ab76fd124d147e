import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

// Real clients wait for an answer or pipeline a few; Node itself would start every request it can parse.
const mostAtOnce = 16;

/** One connection may have this many requests in work; above it nothing more is read from it until some are answered. */
export function boundPipelining(app: FastifyInstance): void {
  const inWork = new WeakMap<Socket, number>();

  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const count = (inWork.get(socket) ?? 0) + 1;
    inWork.set(socket, count);
    if (count === mostAtOnce) socket.pause();
    reply.raw.once('close', () => {
      const left = (inWork.get(socket) ?? 1) - 1;
      inWork.set(socket, left);
      if (left === mostAtOnce - 1) socket.resume();
    });
    done();
  });
}
