import type { Socket } from 'node:net';

// Per connection. Real clients pipeline only a few requests.
const maxWaiting = 32;

// Across all connections. 128,000 requests with 80 small headers each took 507 MB, so these take about 8.
const maxTotalWaiting = 2_000;
let totalWaiting = 0;

type Connection = { isBusy: boolean; waiting: (() => void)[]; isPaused: boolean; hasCloseListener: boolean };

const connections = new WeakMap<Socket, Connection>();

/**
 * Runs one request per connection at a time. The next begins once the kernel has taken the previous response, so a client that
 * does not read holds one response in memory, not all of them. Over either limit it closes the connection and returns false.
 */
export function beginRequest(socket: Socket, begin: () => void): boolean {
  let connection = connections.get(socket);
  if (!connection) {
    connection = { isBusy: false, waiting: [], isPaused: false, hasCloseListener: false };
    connections.set(socket, connection);
  }
  if (!connection.isBusy) {
    connection.isBusy = true;
    begin();
    return true;
  }
  if (socket.destroyed) return true; // parsed from bytes read before the socket was destroyed
  if (connection.waiting.length >= maxWaiting || totalWaiting >= maxTotalWaiting) {
    dropWaiting(connection);
    stopParsing(socket);
    socket.destroy();
    return false;
  }
  if (!connection.hasCloseListener) dropWaitingAtClose(socket, connection);
  connection.waiting.push(begin);
  totalWaiting += 1;
  connection.isPaused = true;
  socket.pause();
  return true;
}

function dropWaiting(connection: Connection): void {
  totalWaiting -= connection.waiting.length;
  connection.waiting = [];
}

/** Adds the listener once per connection, and only for connections that pipeline. */
function dropWaitingAtClose(socket: Socket, connection: Connection): void {
  connection.hasCloseListener = true;
  socket.once('close', () => dropWaiting(connection));
}

/**
 * Node parses all 64 kB it read even after the socket is destroyed: 1,500 requests; with 400 such connections, 2 GB and 30 s.
 * No public API stops it. Returning 2 means "upgrade" to the parser, which then skips the rest. If a later Node lacks this
 * function, only the saving is lost.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming?: unknown } | null };
  if (typeof parser?.onIncoming === 'function') parser.onIncoming = () => 2;
}

export function endRequest(socket: Socket): void {
  const connection = connections.get(socket);
  if (!connection) return;
  // In the next event loop turn, so that a pipelining client gets one request per turn, like other clients.
  if (connection.waiting.length > 0) setImmediate(beginNext, socket, connection);
  else becomeIdle(socket, connection);
}

function beginNext(socket: Socket, connection: Connection): void {
  // Not writable: the previous response was the last on this connection.
  const next = socket.writable ? connection.waiting.shift() : undefined;
  if (next) {
    totalWaiting -= 1;
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

/** Whether every request on the connection was answered. A later timeout then concerns no request the client waits for. */
export function isAnswered(socket: Socket): boolean {
  return connections.get(socket)?.isBusy === false;
}
