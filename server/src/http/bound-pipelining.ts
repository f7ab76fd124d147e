import type { Socket } from 'node:net';

// Real clients wait for an answer or pipeline a few; Node itself would start every request it can parse.
const mostAtOnce = 16;

type Connection = { inWork: number; waiting: (() => void)[]; isPaused: boolean };

const connections = new WeakMap<Socket, Connection>();

/** One connection may have this many requests in work; the rest of what it sent waits its turn, and no more is read. */
export function beginRequest(socket: Socket, begin: () => void): void {
  let connection = connections.get(socket);
  if (!connection) {
    connection = { inWork: 0, waiting: [], isPaused: false };
    connections.set(socket, connection);
  }
  if (connection.inWork < mostAtOnce) {
    connection.inWork += 1;
    begin();
  } else {
    connection.waiting.push(begin);
    connection.isPaused = true;
    socket.pause();
  }
}

export function endRequest(socket: Socket): void {
  const connection = connections.get(socket);
  if (!connection) return;
  const next = connection.waiting.shift();
  if (next) {
    next(); // takes over the place
    return;
  }
  connection.inWork -= 1;
  if (!connection.isPaused) return;
  connection.isPaused = false;
  socket.resume();
}

/** Whether all that came of a client was answered: a timeout that comes later is not about anything it waits for. */
export function isAnswered(socket: Socket): boolean {
  return connections.get(socket)?.inWork === 0;
}
