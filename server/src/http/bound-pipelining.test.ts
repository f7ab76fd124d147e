import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { beginRequest, endRequest, phaseOf } from './bound-pipelining.ts';

class FakeSocket extends EventEmitter {
  parser = { onIncoming: () => 0 };
  destroyed = false;
  writable = true;
  isPaused = false;
  pause() {
    this.isPaused = true;
  }
  resume() {
    this.isPaused = false;
  }
  destroy() {
    if (this.destroyed) return;
    this.destroyed = true;
    this.writable = false;
    this.emit('close');
  }
}

let open: FakeSocket[] = [];
afterEach(() => {
  for (const socket of open) socket.destroy();
  open = [];
});

function connect(ip = '192.0.2.1') {
  const fake = new FakeSocket();
  open.push(fake);
  const socket = fake as unknown as Socket;
  const begun: number[] = [];
  let sent = 0;
  return {
    fake,
    begun,
    phase: () => phaseOf(socket),
    /** Sends a request; tells whether it was taken. */
    send(from = ip): boolean {
      const number = sent++;
      const request = { raw: { socket, complete: true }, ip: from } as unknown as Parameters<
        typeof beginRequest
      >[0];
      return beginRequest(request, () => begun.push(number));
    },
    async answer() {
      endRequest(socket);
      await turn();
    },
  };
}

/** Fills the room of an address with waiting requests, and returns the connections. */
function fill(count: number, addressOf: (n: number) => string) {
  return Array.from({ length: Math.ceil(count / 25) }, (_, n) => {
    const connection = connect(addressOf(n));
    for (let sent = 0; sent <= 25; sent++) expect(connection.send()).toBe(true);
    return connection;
  });
}

test('the requests of a connection run one after the other, and it is read again once none waits', async () => {
  const connection = connect();
  for (let sent = 0; sent < 3; sent++) expect(connection.send()).toBe(true);
  expect([connection.begun, connection.fake.isPaused, connection.phase()]).toEqual([[0], true, 'working']);
  await connection.answer();
  await connection.answer();
  expect([connection.begun, connection.fake.isPaused]).toEqual([[0, 1, 2], true]);
  await connection.answer();
  expect([connection.fake.isPaused, connection.phase()]).toEqual([false, 'idle']);
});

test('32 requests of a connection wait; one more closes it', () => {
  const connection = connect();
  for (let sent = 0; sent <= 32; sent++) expect(connection.send()).toBe(true);
  expect(connection.send()).toBe(false);
  expect([connection.fake.destroyed, connection.begun]).toEqual([true, [0]]);
});

test('500 requests of an address wait, 2,000 of all; those that begin, or whose connection closes, make room', async () => {
  const [first, second] = fill(500, () => '192.0.2.1');
  const refused = () => {
    const other = connect();
    return !(other.send() && other.send());
  };
  expect(refused()).toBe(true);
  await first?.answer();
  expect([refused(), refused()]).toEqual([false, true]);
  second?.fake.destroy();
  for (let n = 0; n < 25; n++) expect(refused()).toBe(false);
  expect(refused()).toBe(true);

  fill(1_500, (n) => `198.51.100.${n}`);
  const another = connect('203.0.113.1');
  expect([another.send(), another.send()]).toEqual([true, false]);
});

test('behind a proxy, what waits on a connection counts for one address and is given back to it', async () => {
  for (let round = 0; round < 40; round++) {
    const connection = connect('192.0.2.1');
    for (let sent = 0; sent <= 32; sent++) expect(connection.send(`192.0.2.${1 + (sent % 2)}`)).toBe(true);
    for (let answered = 0; answered <= 32; answered++) await connection.answer();
    expect(connection.begun).toHaveLength(33);
  }
});

test('a request that waits on a connection without another answer is not begun', async () => {
  const connection = connect();
  connection.send();
  connection.send();
  connection.fake.writable = false;
  await connection.answer();
  expect(connection.begun).toEqual([0]);
});

test('what was read of a connection before its client left neither waits nor begins', async () => {
  const connection = connect();
  connection.send();
  connection.fake.destroy();
  for (let sent = 0; sent < 100; sent++) expect(connection.send()).toBe(true);
  await connection.answer();
  expect(connection.begun).toEqual([0]);
});

test('what was read of a connection before it was cut is skipped, not parsed', () => {
  const { fake, send } = connect();
  const results = Array.from({ length: 34 }, () => send());
  expect(results.lastIndexOf(true)).toBe(32);
  expect(fake.parser.onIncoming()).toBe(2);
});
