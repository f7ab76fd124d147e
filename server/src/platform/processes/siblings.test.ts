import { Counter, Registry } from 'prom-client';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { readMetricsOfAll, relayMetrics } from './siblings.ts';

type Message = { kind: string; id: number; metrics?: unknown; all?: unknown[] };
type Child = { id: number; got: Message[]; isConnected(): boolean; send(message: Message): void };

const fake = vi.hoisted(() => ({
  worker: undefined as unknown,
  workers: {} as Record<string, unknown>,
  on: (_: string, __: unknown) => {},
}));
vi.mock('node:cluster', () => ({ default: fake }));

/** What a message of a child does in the parent. */
let receive: (child: Child, message: Message) => void;

beforeEach(() => {
  vi.useFakeTimers();
  fake.on = (_, listener) => {
    receive = listener as typeof receive;
  };
});
afterEach(() => {
  vi.useRealTimers();
  fake.worker = undefined;
});

function childOf(id: number, isConnected = true): Child {
  const got: Message[] = [];
  return { id, got, isConnected: () => isConnected, send: (message) => void got.push(message) };
}

function startParent(...children: Child[]): void {
  fake.workers = Object.fromEntries(children.map((child) => [child.id, child]));
  relayMetrics();
}

test('the metrics of all processes go to the one that asked, each once, and to each question its own answers', () => {
  const [one, two] = [childOf(1), childOf(2)];
  startParent(one, two);
  receive(one, { kind: 'ask', id: 7 });
  receive(two, { kind: 'ask', id: 7 });
  expect([one.got, two.got]).toEqual(
    Array(2).fill([
      { kind: 'ask', id: 1 },
      { kind: 'ask', id: 2 },
    ]),
  );
  receive(two, { kind: 'tell', id: 2, metrics: 'of two, later' });
  receive(one, { kind: 'tell', id: 1, metrics: 'of one' });
  receive(two, { kind: 'tell', id: 1, metrics: 'of two' });
  expect(one.got.slice(2)).toEqual([{ kind: 'told', id: 7, all: ['of one', 'of two'] }]);
  expect(two.got).toHaveLength(2);
  receive(one, { kind: 'tell', id: 2, metrics: 'of one, later' });
  expect(two.got.slice(2)).toEqual([{ kind: 'told', id: 7, all: ['of two, later', 'of one, later'] }]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a process that hangs keeps the others’ metrics from nobody for longer than two seconds', () => {
  const [one, hanging] = [childOf(1), childOf(2)];
  startParent(one, hanging);
  receive(one, { kind: 'ask', id: 3 });
  receive(one, { kind: 'tell', id: 1, metrics: 'of one' });
  vi.advanceTimersByTime(1_999);
  expect(one.got).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(one.got.slice(1)).toEqual([{ kind: 'told', id: 3, all: ['of one'] }]);
  receive(hanging, { kind: 'tell', id: 1, metrics: 'too late' });
  expect(one.got).toHaveLength(2);
});

test('a process that has just ended is told nothing', () => {
  const [one, ended] = [childOf(1), childOf(2, false)];
  startParent(one, ended);
  receive(ended, { kind: 'ask', id: 3 });
  vi.advanceTimersByTime(2_000);
  expect([one.got.length, ended.got]).toEqual([1, []]);
});

const counted = () => {
  const registry = new Registry();
  new Counter({ name: 'orders_total', help: 'x', registers: [registry] }).inc(3);
  return registry;
};

test('a process alone reads its own metrics', async () => {
  expect(await readMetricsOfAll(counted())()).toContain('\norders_total 3\n');
});

test('one of several processes tells its metrics with its number, and reads those of all', async () => {
  const parent = childOf(4);
  fake.worker = parent;
  const before = process.listeners('message');
  const read = readMetricsOfAll(counted());
  const listeners = process.listeners('message').filter((listener) => !before.includes(listener));
  onTestFinished(() => {
    for (const listener of listeners) process.removeListener('message', listener);
  });
  const hear = (message: Message) => {
    for (const listener of listeners) (listener as (message: Message) => void)(message);
  };
  hear({ kind: 'ask', id: 9 });
  await vi.waitFor(() => expect(parent.got).toHaveLength(1));
  const [{ kind, id, metrics } = { kind: '', id: 0 }] = parent.got;
  expect([kind, id]).toEqual(['tell', 9]);

  const [first, second] = [read(), read()];
  expect(parent.got.slice(1)).toEqual([
    { kind: 'ask', id: 1 },
    { kind: 'ask', id: 2 },
  ]);
  hear({ kind: 'told', id: 2, all: [] });
  hear({ kind: 'told', id: 1, all: [metrics] });
  expect(await first).toContain('orders_total{process="4"} 3');
  expect(await second).not.toContain('orders_total{process="4"} 3');
});
