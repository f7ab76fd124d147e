import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { Phase } from './bound-pipelining.ts';
import { createConnectionsByAddress } from './connections-by-address.ts';

/** Connections of two addresses, whose phases the test sets. */
function start(phasesOf: Record<string, Phase[]>) {
  const phases = new Map<Socket, Phase>();
  const connections = createConnectionsByAddress((socket) => phases.get(socket) as Phase);
  const sockets = Object.entries(phasesOf).map(([address, of]) =>
    of.map((phase) => {
      const socket = new Socket();
      phases.set(socket, phase);
      connections.put(socket, address);
      return socket;
    }),
  );
  return { connections, phases, few: sockets[0] as Socket[], many: sockets[1] as Socket[] };
}

test('makes room with connections of the address with the most unfinished requests, oldest first', () => {
  const { connections, many } = start({
    few: ['receiving', 'receiving'],
    many: ['receiving', 'receiving', 'receiving'],
  });
  expect(connections.ofBusiestAddress(2)).toEqual(many.slice(0, 2));
  expect(connections.ofBusiestAddress(100)).toEqual(many);
});

test('closes an idle connection only after those with an unfinished request, and one in work never', () => {
  const { connections, many } = start({ few: [], many: ['idle', 'working', 'receiving', 'working'] });
  const own = many.at(-1) as Socket;
  expect(connections.ofBusiestAddress(10)).toEqual([many[2], many[0]]);
  expect(connections.oldestBeside(own, ['receiving', 'idle'])).toBe(many[2]);
  connections.remove(many[2] as Socket);
  expect(connections.oldestBeside(own, ['receiving', 'idle'])).toBe(many[0]);
  connections.remove(many[0] as Socket);
  expect(connections.oldestBeside(own, ['receiving', 'idle'])).toBeUndefined();
  expect(connections.ofBusiestAddress(10)).toEqual([]);
});

test('a client that just connected does not make room for an address that fills the process with idle connections', () => {
  const { connections, many } = start({ few: ['receiving'], many: ['idle', 'idle', 'idle'] });
  expect(connections.ofBusiestAddress(2)).toEqual(many.slice(0, 2));
});

test('never chooses the connection that needs the room, nor one of another address', () => {
  const { connections, few } = start({ few: ['receiving'], many: ['receiving', 'receiving'] });
  expect(connections.oldestBeside(few[0] as Socket, ['receiving', 'idle'])).toBeUndefined();
});

test('counts a connection once, for the address it was last given', () => {
  const { connections, few, many } = start({ few: ['receiving'], many: ['receiving', 'receiving'] });
  expect(connections.put(many[0] as Socket, 'few')).toBe(2);
  expect(connections.count()).toBe(3);
  expect(connections.oldestBeside(many[1] as Socket, ['receiving'])).toBeUndefined();
  for (const socket of [...few, ...many]) connections.remove(socket);
  expect(connections.count()).toBe(0);
  expect(connections.put(many[0] as Socket, 'many')).toBe(1);
});
