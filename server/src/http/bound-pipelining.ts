import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { networkOf } from './unknown-key-limit.ts';

// Per connection. Real clients pipeline only a few requests.
const maxWaiting = 32;

// Across all connections. 128,000 requests with 80 small headers each took 507 MB, so these take about 8. One address gets a quarter.
const maxTotalWaiting = 2_000;
const maxWaitingOfAddress = maxTotalWaiting / 4;
const waitingOf = new Map<string, number>();
let totalWaiting = 0;

type Waiting = { request: IncomingMessage; begin(): void };

type Connection = {
  isBusy: boolean;
  /** The request in work; afterwards, only while the rest of its body is still arriving. */
  request: IncomingMessage | null;
  waiting: Waiting[];
  /** The client's network, if requests of it have waited. */
  address: string;
  isPaused: boolean;
  hasCloseListener: boolean;
};

/** `receiving`: no request has fully arrived, or the rest of one's body is arriving. `working`: on a request that has. */
export type Phase = 'receiving' | 'working' | 'idle';

const connections = new WeakMap<Socket, Connection>();

/**
 * Runs one request per connection at a time. The next begins once the kernel has taken the previous response, so a client that
 * does not read holds one response in memory, not all of them. Over either limit it closes the connection and returns false.
 */
export function beginRequest({ raw: request, ip }: FastifyRequest, begin: () => void): boolean {
  const { socket } = request;
  let connection = connections.get(socket);
  if (!connection) {
    connection = {
      isBusy: false,
      request,
      waiting: [],
      address: '',
      isPaused: false,
      hasCloseListener: false,
    };
    connections.set(socket, connection);
  }
  if (!connection.isBusy) {
    connection.isBusy = true;
    connection.request = request;
    begin();
    return true;
  }
  if (socket.destroyed) return true; // parsed from bytes read before the socket was destroyed
  if (connection.waiting.length === 0) connection.address = networkOf(ip);
  if (connection.waiting.length >= maxWaiting || !hasRoom(connection.address)) {
    dropWaiting(connection);
    stopParsing(socket);
    socket.destroy();
    return false;
  }
  if (!connection.hasCloseListener) dropWaitingAtClose(socket, connection);
  connection.waiting.push({ request, begin });
  countWaiting(connection, 1);
  connection.isPaused = true;
  socket.pause();
  return true;
}

function hasRoom(address: string): boolean {
  return totalWaiting < maxTotalWaiting && (waitingOf.get(address) ?? 0) < maxWaitingOfAddress;
}

function countWaiting({ address }: Connection, change: number): void {
  totalWaiting += change;
  const count = (waitingOf.get(address) ?? 0) + change;
  if (count > 0) waitingOf.set(address, count);
  else waitingOf.delete(address);
}

function dropWaiting(connection: Connection): void {
  if (connection.waiting.length > 0) countWaiting(connection, -connection.waiting.length);
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
    countWaiting(connection, -1);
    connection.request = next.request;
    next.begin();
  } else becomeIdle(socket, connection);
}

function becomeIdle(socket: Socket, connection: Connection): void {
  dropWaiting(connection);
  connection.isBusy = false;
  if (connection.request?.complete) connection.request = null;
  if (!connection.isPaused) return;
  connection.isPaused = false;
  socket.resume();
}

export function phaseOf(socket: Socket): Phase {
  const connection = connections.get(socket);
  if (!connection || connection.request?.complete === false) return 'receiving';
  return connection.isBusy ? 'working' : 'idle';
}

export function hasRequestInWork(socket: Socket): boolean {
  return connections.get(socket)?.isBusy === true;
}

/** Whether every request on the connection was answered. A later timeout then concerns no request the client waits for. */
export function isAnswered(socket: Socket): boolean {
  return connections.get(socket)?.isBusy === false;
}
