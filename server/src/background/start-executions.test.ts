import { beforeEach, expect, test, vi } from 'vitest';
import type { Config } from '../config/settings.ts';
import type { Core, Network } from '../network/port.ts';
import { startExecutionWorker } from '../orders/executions/worker.ts';
import { startCoreSender } from '../orders/service/start-core-sender.ts';
import type { Service } from './service.ts';
import { startCore } from './start-core.ts';
import { startExecutions } from './start-executions.ts';

vi.mock(import('../orders/executions/worker.ts'), async (original) => ({
  ...(await original()),
  startExecutionWorker: vi.fn(),
}));
vi.mock(import('../orders/service/start-core-sender.ts'), async (original) => ({
  ...(await original()),
  startCoreSender: vi.fn(),
}));

/** What was counted, logged and ended. */
let seen: string[];
let paused: number[];
let wakes: number;
const listeners = new Map<string, (subject?: string) => void>();

const config = {
  ...{ executionLeaseMs: 60_000, networkTimeoutMs: 30_000, executionRetryScheduleMs: [1_000] },
  ...{ executionConcurrency: 7, iccidRanges: null },
} as unknown as Config;

function serviceWith(parts: Partial<Service> = {}): Service {
  const note = (level: string) => (details: unknown, text?: string) =>
    void seen.push(`${level}: ${text ?? details}`);
  return {
    newUuid: () => Buffer.alloc(16),
    ...{ core: 'mock', cell: null },
    log: { info: note('info'), warn: note('warn') },
    metrics: {
      executionCount: {
        inc: (labels: { execution_type: string; outcome: string }, by = 1) =>
          void seen.push(`${labels.execution_type} ${labels.outcome} +${by}`),
      },
      networkPaused: { set: (value: number) => void paused.push(value) },
      throughput: { count: (name: string) => void seen.push(name) },
    },
    signals: {
      on(topic: string, listener: (subject?: string) => void) {
        listeners.set(topic, listener);
        return () => void listeners.delete(topic);
      },
      hearsAll: () => false,
    },
    seats: { offer: () => () => void seen.push('offers no seats') },
    ...parts,
  } as unknown as Service;
}

beforeEach(() => {
  [seen, paused, wakes] = [[], [], 0];
  listeners.clear();
  const worker = {
    wake: () => void wakes++,
    seat: async () => null,
    stop: async () => void seen.push('ended'),
  };
  vi.mocked(startExecutionWorker)
    .mockReset()
    .mockReturnValue(worker as never);
  vi.mocked(startCoreSender)
    .mockReset()
    .mockReturnValue(worker as never);
});

const optionsOfWorker = () =>
  vi.mocked(startExecutionWorker).mock.calls[0]?.[0] as NonNullable<
    Parameters<typeof startExecutionWorker>[0]
  >;
const optionsOfSender = () =>
  vi.mocked(startCoreSender).mock.calls[0]?.[0] as NonNullable<Parameters<typeof startCoreSender>[0]>;

test('every outcome of every kind of order is counted from zero, so that the first one is an increase', () => {
  startExecutions(serviceWith(), config, {} as Network, () => {});
  const types = ['bundle.add', 'esim.provision', 'esim.resume', 'esim.suspend', 'esim.terminate'];
  expect(seen.sort()).toEqual(
    types.flatMap((type) => ['failed', 'postponed', 'succeeded'].map((outcome) => `${type} ${outcome} +0`)),
  );
});

test('what ends counts for the figures of the last minutes, and what waits does not', () => {
  startExecutions(serviceWith(), config, {} as Network, () => {});
  seen = [];
  for (const outcome of ['succeeded', 'failed', 'postponed'] as const)
    optionsOfWorker().onOutcome('bundle.add', outcome);
  expect(seen).toEqual([
    ...['bundle.add succeeded +1', 'executions_succeeded', 'bundle.add failed +1', 'executions_failed'],
    'bundle.add postponed +1',
  ]);
});

test('a pause of the network is measured and logged from its begin to its end, and is over when a worker starts', () => {
  const worker = startExecutions(serviceWith(), config, {} as Network, () => {});
  seen = [];
  const states = [worker.isPaused()];
  optionsOfWorker().onPause?.(10_000);
  states.push(worker.isPaused());
  optionsOfWorker().onPause?.(null);
  states.push(worker.isPaused());
  expect([states, paused]).toEqual([
    [false, true, false],
    [0, 1, 0],
  ]);
  expect(seen).toEqual([
    'warn: the network is paused: its gateway reported several times in a row that it is down; orders wait',
    'info: the network answers again; orders continue',
  ]);
});

test('the network is paused for ten seconds after five gateway errors in a row, unless the service says otherwise', () => {
  startExecutions(serviceWith(), config, {} as Network, () => {});
  expect(optionsOfWorker()).toMatchObject({
    pause: { afterFailures: 5, pauseMs: 10_000 },
    leaseMs: 60_000,
    concurrency: 7,
  });
  vi.mocked(startExecutionWorker).mockClear();
  startExecutions(serviceWith({ networkPauseAfter: 2, networkPauseMs: 1 }), config, {} as Network, () => {});
  expect(optionsOfWorker().pause).toEqual({ afterFailures: 2, pauseMs: 1 });
});

test('a worker that stops is woken no more and offers no seats, before it waits for its orders', async () => {
  const worker = startExecutions(serviceWith(), config, {} as Network, () => {});
  listeners.get('executions')?.();
  expect(wakes).toBe(1);
  seen = [];
  await worker.stop(1);
  expect([seen, listeners.size]).toEqual([['offers no seats', 'ended'], 0]);
});

test('states are sent after whatever writes events, and not after retries of webhooks', async () => {
  const sender = startCore(serviceWith(), config, {} as Core, () => {});
  const count = (subject?: string) => {
    const before = wakes;
    listeners.get('deliveries')?.(subject);
    return wakes - before;
  };
  expect([count(), count('an-account'), count('an-account/an-endpoint')]).toEqual([1, 1, 0]);
  await sender.stop(1);
  expect([seen, listeners.size]).toEqual([['ended'], 0]);
});

test('a pause of the core is logged, and its calls have the times of those to the network', () => {
  startCore(serviceWith(), config, {} as Core, () => {});
  expect(optionsOfSender()).toMatchObject({
    ...{ leaseMs: 60_000, timeoutMs: 30_000, retryScheduleMs: [1_000] },
    pause: { afterFailures: 5, pauseMs: 10_000 },
  });
  optionsOfSender().onPause?.(10_000);
  optionsOfSender().onPause?.(null);
  expect(seen).toEqual([
    'warn: the core is paused: it failed several times in a row',
    'info: the core answers again; the service of eSIMs is sent',
  ]);
});
