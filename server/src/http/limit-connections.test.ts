import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import type { Service } from '../background/service.ts';
import { beginRequest } from './bound-pipelining.ts';
import { limitConnections } from './limit-connections.ts';

type Options = { maxConnections: number; maxConnectionsPerAddress: number };

function start({ maxConnections, maxConnectionsPerAddress }: Options) {
  const cuts: string[] = [];
  const service = {
    ...{ maxConnections, maxConnectionsPerAddress, trustedProxies: ['10.0.0.0/8'] },
    metrics: { connectionsCut: { inc: ({ reason }: { reason: string }) => void cuts.push(reason) } },
  } as unknown as Service;
  const server = Object.assign(new EventEmitter(), { setTimeout() {} }) as unknown as Server;
  const limits = limitConnections(server, service);
  const connect = (remoteAddress: string) => {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
    server.emit('connection', socket);
    return socket;
  };
  /** A request of this client through a proxy, whose body is still arriving. */
  const receive = (socket: Socket, ip: string) => {
    const request = { raw: { socket, complete: false }, ip } as unknown as FastifyRequest;
    beginRequest(request, () => limits.beginRequest(request));
  };
  return { cuts, connect, receive };
}

const destroyed = (sockets: Socket[]) => sockets.map((socket) => socket.destroyed);

test('a proxy may have any number of connections, also if its address comes in IPv6 notation', () => {
  const { connect, cuts } = start({ maxConnections: 100, maxConnectionsPerAddress: 2 });
  for (const address of ['10.0.0.1', '::ffff:10.0.0.1']) for (let n = 0; n < 5; n++) connect(address);
  expect(cuts).toEqual([]);
  const clients = Array.from({ length: 3 }, () => connect('::ffff:192.0.2.1'));
  expect([destroyed(clients), cuts]).toEqual([[true, false, false], ['too_many_of_address']]);
});

test('through a proxy, a client has as many unfinished requests as it has connections without one', () => {
  const { connect, receive } = start({ maxConnections: 100, maxConnectionsPerAddress: 2 });
  const sockets = Array.from({ length: 4 }, () => connect('10.0.0.1'));
  for (const [n, socket] of sockets.entries()) receive(socket, n === 0 ? '192.0.2.9' : '192.0.2.1');
  expect(destroyed(sockets)).toEqual([false, true, false, false]);
});

test('a full process makes room for one more, however few it takes', () => {
  const { connect, cuts } = start({ maxConnections: 5, maxConnectionsPerAddress: 5 });
  const silent = Array.from({ length: 5 }, () => connect('192.0.2.1'));
  const newcomer = connect('192.0.2.2');
  expect(destroyed([...silent, newcomer])).toEqual([true, false, false, false, false, false]);
  expect(cuts).toEqual(['too_many']);
});
