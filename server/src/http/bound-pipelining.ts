import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

// Real clients wait for an answer or pipeline a few; Node itself would start every request it can parse.
const mostAtOnce = 16;

/** One connection may have this many requests in work; the rest of what it sent waits its turn, and no more is read. */
export function boundPipelining(app: FastifyInstance): void {
  const connections = new WeakMap<Socket, { inWork: number; waiting: (() => void)[]; isPaused: boolean }>();

  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const connection = connections.get(socket) ?? { inWork: 0, waiting: [], isPaused: false };
    connections.set(socket, connection);

    reply.raw.once('close', () => {
      connection.inWork -= 1;
      const next = connection.waiting.shift();
      if (next) next();
      else if (connection.isPaused) {
        connection.isPaused = false;
        socket.resume();
      }
    });
    const begin = () => {
      connection.inWork += 1;
      done();
    };
    if (connection.inWork < mostAtOnce) {
      begin();
    } else {
      connection.waiting.push(begin);
      connection.isPaused = true;
      socket.pause();
    }
  });
}
