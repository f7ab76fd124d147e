import { beforeEach, expect, test, vi } from 'vitest';
import { deployment } from '../accounts/deployment.ts';
import type { Config } from '../config/settings.ts';
import type { Core, Network } from '../network/port.ts';
import { startSequencer } from '../notify/feed/sequencer.ts';
import { queueForDeployment } from '../notify/webhooks/deployment-deliveries.ts';
import { placeInOrder } from '../notify/webhooks/ordered/place-in-order.ts';
import type { Topic } from '../platform/db/signals.ts';
import { startChores } from './chores.ts';
import type { Service } from './service.ts';
import { startCore } from './start-core.ts';
import { startExecutions } from './start-executions.ts';
import { startWebhooks } from './start-webhooks.ts';
import { startFeed, startWork } from './start-work.ts';
import { createWorkerBeat } from './worker-beat.ts';

vi.mock(import('../notify/feed/sequencer.ts'), async (original) => ({
  ...(await original()),
  startSequencer: vi.fn(),
}));
vi.mock(import('../notify/webhooks/deployment-deliveries.ts'), async (original) => ({
  ...(await original()),
  queueForDeployment: vi.fn(),
}));
vi.mock(import('../notify/webhooks/ordered/place-in-order.ts'), async (original) => ({
  ...(await original()),
  placeInOrder: vi.fn(),
}));
vi.mock(import('./chores.ts'), async (original) => ({
  ...(await original()),
  startChores: vi.fn(),
  workerChores: () => [],
}));
vi.mock(import('./start-core.ts'), async (original) => ({ ...(await original()), startCore: vi.fn() }));
vi.mock(import('./start-executions.ts'), async (original) => ({
  ...(await original()),
  startExecutions: vi.fn(),
}));
vi.mock(import('./start-webhooks.ts'), async (original) => ({
  ...(await original()),
  startWebhooks: vi.fn(),
}));
vi.mock(import('./worker-beat.ts'), async (original) => ({
  ...(await original()),
  createWorkerBeat: vi.fn(),
}));

const [network, core, config] = [{} as Network, {} as Core, {} as Config];
const onError = () => {};
const isFresh = () => true;

/** Who was stopped, and what was announced. */
let happened: string[];
let listeners: Map<Topic, (subject?: string) => void>;
let onTaken: () => void;
let wakes: number;

beforeEach(() => {
  vi.clearAllMocks();
  [happened, listeners, wakes] = [[], new Map(), 0];
  const part = (name: string) => ({
    isPaused: () => name === 'core',
    stop: async () => void happened.push(`${name} ended`),
  });
  vi.mocked(startCore).mockReturnValue(part('core') as never);
  vi.mocked(startExecutions).mockReturnValue(part('orders') as never);
  vi.mocked(startWebhooks).mockReturnValue({
    ...part('sender'),
    interrupt: () => happened.push('cut off'),
  } as never);
  vi.mocked(startChores).mockReturnValue(part('chores'));
  vi.mocked(startSequencer).mockReturnValue({ ...part('sequencer'), wake: () => void wakes++ } as never);
  vi.mocked(placeInOrder).mockResolvedValue();
  vi.mocked(queueForDeployment).mockResolvedValue();
  const beat = { beat: async () => null, isFresh, stop: () => void happened.push('beat ended') };
  vi.mocked(createWorkerBeat).mockReturnValue(beat);
});

const callsOf = (...starts: unknown[]) =>
  starts.flatMap((start) => vi.mocked(start as () => void).mock.calls);

function serviceWith(parts: Partial<Service> = {}): Service {
  return {
    missingKeys: [],
    core: 'state',
    newUuid: () => Buffer.alloc(16, 7),
    log: { warn: (text: string) => void happened.push(text) },
    signals: {
      announce: (topic: Topic, subject?: string) => void happened.push(`${topic} of ${subject}`),
      on(topic: Topic, listener: (subject?: string) => void) {
        listeners.set(topic, listener);
        return () => listeners.delete(topic);
      },
      hearsAll: () => false,
    },
    handOver: {
      onTaken(listener: () => void) {
        onTaken = listener;
        return () => void happened.push('follows no more');
      },
    },
    feedReaders: new Set(),
    ...parts,
  } as unknown as Service;
}

test('what a worker holds has one name, under which its beat keeps it', () => {
  startWork(serviceWith(), config, { network, core }, onError);
  const holder = '07070707070707070707070707070707';
  expect(vi.mocked(createWorkerBeat).mock.calls[0]?.[0].worker).toBe(holder);
  expect(vi.mocked(startExecutions).mock.calls[0]?.[4]).toEqual({ holder });
  expect(vi.mocked(startCore).mock.calls[0]?.[4]).toEqual({ holder });
  expect(vi.mocked(startWebhooks).mock.calls[0]?.[3]).toEqual({ holder, isFresh });
  expect(vi.mocked(startChores).mock.calls[0]?.[0].map((chore) => 'when' in chore && chore.when)).toEqual([
    'returns',
  ]);
});

test('without a key that secrets need, a worker runs no orders, gives nothing back and sends no webhooks', () => {
  startWork(serviceWith({ missingKeys: ['0000000a'] }), config, { network, core }, onError);
  expect(callsOf(startExecutions, startWebhooks)).toEqual([]);
  expect(vi.mocked(startChores).mock.calls[0]?.[0]).toEqual([]);
  // States have no secrets.
  expect(startCore).toHaveBeenCalledTimes(1);
});

test('without a network no orders are run, and without a core that takes states none are sent', () => {
  startWork(serviceWith({ core: 'mock' }), config, { network: null, core }, onError);
  expect(callsOf(startExecutions, startCore)).toEqual([]);
  expect(startWebhooks).toHaveBeenCalledTimes(1);
});

test('a worker says of which of the two systems it makes no calls', () => {
  const work = startWork(serviceWith(), config, { network, core }, onError);
  expect([work.isPaused('core'), work.isPaused('network')]).toEqual([true, false]);
  const without = startWork(serviceWith(), config, { network, core: null }, onError);
  expect(without.isPaused('core')).toBe(false);
});

test('a worker that has lost its beat cuts off what it sends, and says why a webhook may come twice', () => {
  startWork(serviceWith(), config, { network, core }, onError);
  vi.mocked(createWorkerBeat).mock.calls[0]?.[0].onLost();
  expect(happened).toEqual([expect.stringContaining('cut off and sent again'), 'cut off']);
});

test('a worker that stops ends all its parts, and beats until they have ended', async () => {
  await startWork(serviceWith(), config, { network, core }, onError).stop(1);
  const parts = ['orders', 'core', 'sender', 'sequencer', 'chores'].map((name) => `${name} ended`);
  expect(happened.slice(0, -1).sort()).toEqual(['follows no more', ...parts].sort());
  expect(happened.at(-1)).toBe('beat ended');
  expect(listeners.size).toBe(0);
});

test('events that got a position are told to the readers of their accounts and of the deployment, and handed on', async () => {
  startFeed(serviceWith(), onError);
  const { onPositions } = vi.mocked(startSequencer).mock.calls[0]?.[0] ?? {};
  const positions = { accountUuids: ['one', 'other'], hasWaiting: false, hasListeners: false };
  await onPositions?.(positions as never);
  expect(happened).toEqual(['feed of one', 'feed of other', `feed of ${deployment.uuid}`]);
  expect([placeInOrder, queueForDeployment].map((work) => vi.mocked(work).mock.calls.length)).toEqual([0, 0]);
  await onPositions?.({ ...positions, hasWaiting: true } as never);
  expect([placeInOrder, queueForDeployment].map((work) => vi.mocked(work).mock.calls.length)).toEqual([1, 0]);
  await onPositions?.({ ...positions, hasListeners: true } as never);
  expect([placeInOrder, queueForDeployment].map((work) => vi.mocked(work).mock.calls.length)).toEqual([1, 1]);
});

test('a feed hurries while somebody follows it', () => {
  const readers = new Set<() => boolean>([() => false]);
  startFeed(serviceWith({ feedReaders: readers }), onError);
  const { hasReaders } = vi.mocked(startSequencer).mock.calls[0]?.[0] ?? {};
  expect(hasReaders?.()).toBe(false);
  readers.add(() => true);
  expect(hasReaders?.()).toBe(true);
});

test.each([
  ['an account’s deliveries, which come with events', 'an-account', 1],
  ['work of any account', undefined, 1],
  ['a retry, which comes without an event', 'an-account/an-endpoint', 0],
  ['the deployment’s deliveries, which are made from positions', deployment.uuid, 0],
])('events are looked for after a signal of %s, or not', (_, subject, count) => {
  startFeed(serviceWith(), onError);
  listeners.get('deliveries')?.(subject);
  expect(wakes).toBe(count);
});

test('events that were taken from memory are looked for at once', () => {
  startFeed(serviceWith(), onError);
  onTaken();
  expect(wakes).toBe(1);
});
