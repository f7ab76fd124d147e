import type { Socket } from 'node:net';

// Clients that pipeline at all send a few requests ahead.
const maxWaiting = 32;

// Of all connections together. 128,000 of them with 80 small headers each took 507 MB, so these take about 8.
const maxWaitingInAll = 2_000;
let waitingInAll = 0;

type Connection = { isBusy: boolean; waiting: (() => void)[]; isPaused: boolean; isFollowed: boolean };

const connections = new WeakMap<Socket, Connection>();

/**
 * One request of a connection at a time. The next begins when the answer before it was handed to the system, so a client that
 * reads nothing holds one answer, not all it asked for. False when more wait than may, of it or of all:
 * the connection is then closed.
 */
export function beginRequest(socket: Socket, begin: () => void): boolean {
  let connection = connections.get(socket);
  if (!connection) {
    connection = { isBusy: false, waiting: [], isPaused: false, isFollowed: false };
    connections.set(socket, connection);
  }
  if (!connection.isBusy) {
    connection.isBusy = true;
    begin();
    return true;
  }
  if (socket.destroyed) return true; // parsed from bytes that were read before
  if (connection.waiting.length >= maxWaiting || waitingInAll >= maxWaitingInAll) {
    dropWaiting(connection);
    stopParsing(socket);
    socket.destroy();
    return false;
  }
  if (!connection.isFollowed) dropWaitingAtClose(socket, connection);
  connection.waiting.push(begin);
  waitingInAll += 1;
  connection.isPaused = true;
  socket.pause();
  return true;
}

function dropWaiting(connection: Connection): void {
  waitingInAll -= connection.waiting.length;
  connection.waiting = [];
}

/** Once a connection, and only for those that pipeline: others pay nothing for it. */
function dropWaitingAtClose(socket: Socket, connection: Connection): void {
  connection.isFollowed = true;
  socket.once('close', () => dropWaiting(connection));
}

/**
 * Node parses all of the 64 kB that it read, even for a socket that is destroyed: 1,500 requests, and with 400 such connections
 * 2 GB and half a minute. There is no public way to stop it. This answer means "upgrade" to the parser, which then leaves the
 * rest alone; if a later Node has no such function, only that saving is lost.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming?: unknown } | null };
  if (typeof parser?.onIncoming === 'function') parser.onIncoming = () => 2;
}

export function endRequest(socket: Socket): void {
  const connection = connections.get(socket);
  if (!connection) return;
  // In the next turn of the loop: a client that pipelines gets one request a turn, like everybody else.
  if (connection.waiting.length > 0) setImmediate(beginNext, socket, connection);
  else becomeIdle(socket, connection);
}

function beginNext(socket: Socket, connection: Connection): void {
  // Not writable: the answer before was the last one of this connection.
  const next = socket.writable ? connection.waiting.shift() : undefined;
  if (next) {
    waitingInAll -= 1;
    next();
  } else becomeIdle(socket, connection);
}

function becomeIdle(socket: Socket, connection: Connection): void {
  dropWaiting(connection);
  connection.isBusy = false;
  if (!connection.isPaused) return;
  connection.isPaused = false;
  socket.resume();
}

export function hasRequestInWork(socket: Socket): boolean {
  return connections.get(socket)?.isBusy === true;
}

/** Whether everything that a client sent was answered: a timeout that comes later is not about anything it waits for. */
export function isAnswered(socket: Socket): boolean {
  return connections.get(socket)?.isBusy === false;
}
