import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Database } from './database.ts';
import { createSignals, type Signals } from './signals.ts';

let sent: { payload: string; atMs: number }[];
let signals: Signals;
let startedAtMs: number;

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  startedAtMs = Date.now();
  const query = async (_statement: unknown, [, payload]: [string, string]) => {
    sent.push({ payload, atMs: Date.now() - startedAtMs });
  };
  const db = { query } as unknown as Database;
  signals = createSignals({
    db,
    connectionString: null,
    onError(error) {
      throw error;
    },
  });
});

afterEach(async () => {
  await signals.stop();
  vi.useRealTimers();
});

test('a first signal goes out at once, those of the next 20 ms together at their end', async () => {
  signals.announce('deliveries', 'a');
  await vi.advanceTimersByTimeAsync(1);
  signals.announce('deliveries', 'b');
  await vi.advanceTimersByTimeAsync(8);
  signals.announce('deliveries', 'c');
  signals.announce('deliveries', 'b');
  await vi.advanceTimersByTimeAsync(100);
  expect(sent).toEqual([
    { payload: 'deliveries a', atMs: 0 },
    { payload: 'deliveries b c', atMs: 20 },
  ]);
});

test('a listener hears nothing after it has ended', async () => {
  const heard: string[] = [];
  const end = signals.on('executions', () => void heard.push('ended'));
  signals.on('executions', () => void heard.push('stays'));
  end();
  signals.announce('executions');
  await vi.advanceTimersByTimeAsync(1);
  expect(heard).toEqual(['stays']);
});

test('under load, a topic has one signal per 20 ms', async () => {
  for (let ms = 0; ms < 190; ms++) {
    signals.announce('deliveries', 'a');
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(sent.map(({ atMs }) => atMs)).toEqual([0, 20, 40, 60, 80, 100, 120, 140, 160, 180]);
});

test('after 20 ms without a signal, the next one goes out at once again', async () => {
  signals.announce('feed', 'a');
  await vi.advanceTimersByTimeAsync(21);
  signals.announce('feed', 'b');
  await vi.advanceTimersByTimeAsync(1);
  expect(sent.map(({ payload }) => payload)).toEqual(['feed a', 'feed b']);
});

test('accounts announced together share a signal, and topics do not wait for each other', async () => {
  signals.announce('deliveries', 'a');
  signals.announce('deliveries', 'b');
  signals.announce('executions');
  await vi.advanceTimersByTimeAsync(1);
  expect(sent.map(({ payload }) => payload)).toEqual(['deliveries a b', 'executions']);
});

test('a signal without a subject, or with too many, is for all work', async () => {
  signals.announce('deliveries', 'a');
  signals.announce('deliveries');
  for (let n = 0; n < 300; n++) signals.announce('feed', `00000000-0000-0000-0000-${n}`.padEnd(36, '0'));
  await vi.advanceTimersByTimeAsync(1);
  expect(sent.map(({ payload }) => payload)).toEqual(['deliveries', 'feed']);
});

test('nothing goes out after stop', async () => {
  signals.announce('deliveries', 'a');
  await vi.advanceTimersByTimeAsync(1);
  signals.announce('deliveries', 'b');
  signals.announce('feed', 'b');
  await signals.stop();
  await vi.advanceTimersByTimeAsync(100);
  expect(sent.map(({ payload }) => payload)).toEqual(['deliveries a']);
});

test('the only process notifies nobody and still wakes itself', async () => {
  let heard = 0;
  signals.on('feed', () => void heard++);
  signals.setAlone(true);
  signals.announce('feed', 'a');
  await vi.advanceTimersByTimeAsync(100);
  expect([heard, sent.length]).toEqual([1, 0]);
  signals.setAlone(false);
  signals.announce('feed', 'b');
  await vi.advanceTimersByTimeAsync(1);
  expect(sent.map(({ payload }) => payload)).toEqual(['feed b']);
});
