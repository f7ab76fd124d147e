import { expect, onTestFinished, test, vi } from 'vitest';
import type { Database } from '../../platform/db/database.ts';
import { pauseAfter } from './pause-after.ts';
import { startSequencer } from './sequencer.ts';
import type { Pass } from './sql/positions.ts';

// Only watched: no clock tells a pause of 1 ms from one of 20 on a busy machine.
vi.mock(import('./pause-after.ts'), { spy: true });

/** What a sequencer asks for after a pass that found one event, and nothing after that. */
async function askedFor(hasWaiting: boolean, hasReaders: boolean) {
  vi.mocked(pauseAfter).mockClear();
  const found: Pass = {
    ...{ rowCount: 1, lastId: 1, accountUuids: ['one'], eventCount: 1 },
    ...{ hasWaiting, hasListeners: false, oldestOpenXid: '1', xid: '1' },
  };
  const passes = [found];
  const query = async () => [passes.shift() ?? { ...found, rowCount: 0, eventCount: 0 }];
  await new Promise<void>((resolve, reject) => {
    const sequencer = startSequencer({
      db: { query } as unknown as Database,
      clock: { nowMs: () => 0 },
      // By then it has only to choose its pause, which stopping lets it do.
      onPositions: () => void sequencer.stop().then(resolve, reject),
      hasReaders: () => hasReaders,
      onError: reject,
    });
  });
  return vi.mocked(pauseAfter).mock.calls;
}

test('the pass after a lone event is soon if ordered deliveries wait for positions, or somebody follows the feed', async () => {
  expect(await askedFor(false, false)).toEqual([[1, false]]);
  expect(await askedFor(true, false)).toEqual([[1, true]]);
  expect(await askedFor(false, true)).toEqual([[1, true]]);
});

test('passes are rare while signals tell of all events, and only then', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let passes = 0;
  let hearsAll = true;
  const nothing: Pass = {
    ...{ rowCount: 0, lastId: null, accountUuids: [], eventCount: 0 },
    ...{ hasWaiting: false, hasListeners: false, oldestOpenXid: '1', xid: null },
  };
  const query = async () => {
    passes += 1;
    return [nothing];
  };
  const sequencer = startSequencer({
    db: { query } as unknown as Database,
    clock: { nowMs: () => 0 },
    onPositions() {},
    hearsAll: () => hearsAll,
    onError: (error) => expect.fail(String(error)),
  });
  const passesWithin = async (forMs: number) => {
    const before = passes;
    await vi.advanceTimersByTimeAsync(forMs);
    return passes - before;
  };
  await passesWithin(0);
  expect(await passesWithin(20_000)).toBe(4);
  hearsAll = false;
  await passesWithin(5_000);
  expect(await passesWithin(20_000)).toBe(20);
  await sequencer.stop();
});

type Outcome = Partial<Pass> | Error;

/** The row number above which each pass looked. A pass finds nothing if no outcome is given. */
async function looksOf(
  outcomes: Outcome[],
  beforePass: (number: number) => void = () => {},
): Promise<number[]> {
  const looks: number[] = [];
  const nothing: Pass = {
    ...{ rowCount: 0, lastId: null, accountUuids: [], eventCount: 0 },
    ...{ hasWaiting: true, hasListeners: false, oldestOpenXid: '1', xid: null },
  };
  const query = async (_: unknown, [afterId]: unknown[]) => {
    beforePass(looks.length);
    const outcome = outcomes[looks.length] ?? {};
    looks.push(afterId as number);
    if (outcome instanceof Error) throw outcome;
    return [{ ...nothing, ...outcome }];
  };
  const sequencer = startSequencer({
    db: { query } as unknown as Database,
    clock: { nowMs: () => 0 },
    onPositions: () => {},
    pollMs: 1,
    onError: () => {},
  });
  await expect.poll(() => looks.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(outcomes.length);
  await sequencer.stop();
  return looks.slice(0, outcomes.length);
}

const found = (lastId: number, xid: string) => ({ rowCount: 1, eventCount: 1, lastId, xid });

test('a pass looks only above rows that are taken, but not above those that a full pass left', async () => {
  const ended = { oldestOpenXid: '9' };
  expect(await looksOf([found(5_000, '5'), ended, {}])).toEqual([0, 0, 5_000]);
  const full = { ...found(1_000, '6'), ...ended, rowCount: 1_000 };
  expect(await looksOf([found(5_000, '5'), full, {}])).toEqual([0, 0, 0]);
});

test('a pass looks at all rows from time to time, and after an error: on another server, numbers may be lower', async () => {
  const ended = { oldestOpenXid: '9' };
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const late = (pass: number) => void (pass === 3 && vi.advanceTimersByTime(2_001));
    expect(await looksOf([found(5_000, '5'), ended, {}, {}, {}], late)).toEqual([0, 0, 5_000, 5_000, 0]);
    const failed = [found(5_000, '5'), ended, new Error('away'), {}];
    expect(await looksOf(failed)).toEqual([0, 0, 5_000, 0]);
  } finally {
    vi.useRealTimers();
  }
});

test('after a full pass the next follows at once, without a signal', async () => {
  let passes = 0;
  const query = async () => {
    passes += 1;
    return [
      { ...found(passes, '1'), rowCount: passes === 1 ? 1_000 : 0, hasWaiting: false, oldestOpenXid: '1' },
    ];
  };
  const sequencer = startSequencer({
    db: { query } as unknown as Database,
    clock: { nowMs: () => 0 },
    onPositions: () => {},
    pollMs: 600_000,
    onError: () => {},
  });
  await expect.poll(() => passes, { timeout: 30_000 }).toBe(2);
  await sequencer.stop();
});
