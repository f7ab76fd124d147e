import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createSilentConnections } from './silent-connections.ts';

const from = (remoteAddress: string) => ({ remoteAddress }) as Socket;

test('chooses only connections of the address with the most, oldest first', () => {
  const silent = createSilentConnections();
  const few = [from('192.0.2.1'), from('192.0.2.1')];
  const many = [from('192.0.2.2'), from('192.0.2.2'), from('192.0.2.2')];
  for (const socket of [...few, ...many]) silent.add(socket);
  expect(silent.ofBusiestAddress(2)).toEqual(many.slice(0, 2));
  expect(silent.ofBusiestAddress(100)).toEqual(many);
  for (const socket of many.slice(0, 2)) silent.remove(socket);
  expect(silent.ofBusiestAddress(1)[0]).toBe(few[0]);
});

test('never chooses a connection that has sent a request', () => {
  const silent = createSilentConnections();
  const socket = from('192.0.2.1');
  silent.add(socket);
  silent.remove(socket);
  expect(silent.ofBusiestAddress(10)).toEqual([]);
});
