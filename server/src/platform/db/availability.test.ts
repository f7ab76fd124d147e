import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Availability, createAvailability } from './availability.ts';
import type { DatabaseAddress } from './connection-url.ts';
import type { Closure } from './gate.ts';
import type { InFlight } from './in-flight.ts';
import { type Opened, openClient, openWritable } from './open-client.ts';

vi.mock(import('./open-client.ts'), async (original) => ({
  ...(await original()),
  openClient: vi.fn(),
  openWritable: vi.fn(),
}));
// Vitest does not move the time of these.
vi.mock(import('node:timers/promises'), async (original) => ({
  ...(await original()),
  setTimeout: ((ms: number) => new Promise((resolve) => setTimeout(resolve, ms))) as never,
}));

const host = { label: 'db:5432' } as DatabaseAddress['hosts'][number];
const changes: (Closure | null)[] = [];
let waiting: string[];
let checks: number;
let isSlow: boolean;
/** The statements whose connections were ended. */
const cut: string[] = [];
let suspicions: number;
let availability: Availability;

const running = (what: string, isRead: boolean) => ({
  ...{ isRead, startedAtMs: 0 },
  client: { end: async () => void cut.push(what) },
});

/** Statements that have been slow for long, so that the server is asked about them every two seconds. */
const inFlight = {
  olderThan: () => (isSlow ? [running('a write', false), running('a read', true)] : []),
} as unknown as InFlight;

function opened(by: typeof host): Opened {
  const client = {
    async query() {
      checks += 1;
      return { rows: waiting.map((commit) => ({ commit })) };
    },
    end: async () => {},
  };
  return { client, host: by } as unknown as Opened;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance'] });
  [waiting, checks, isSlow, suspicions] = [[], 0, true, 0];
  for (const list of [changes, cut]) list.length = 0;
  vi.mocked(openClient).mockReset().mockResolvedValue(opened(host));
  vi.mocked(openWritable)
    .mockReset()
    .mockImplementation(async () => opened(host));
  const address = { hosts: [host], connectTimeoutMs: 1_000 } as unknown as DatabaseAddress;
  const onChange = (closure: Closure | null) => void changes.push(closure);
  availability = createAvailability({ address, inFlight, onChange, onSuspicion: () => void suspicions++ });
});
afterEach(() => {
  availability.stop();
  vi.useRealTimers();
});

/** The next check, if there is one, finds these commits waiting. */
async function check(seen: string[]): Promise<void> {
  waiting = seen;
  const before = checks;
  for (let half = 0; half < 6 && checks === before; half++) await vi.advanceTimersByTimeAsync(500);
}

test('writes are refused once two checks find the same commit waiting, not because each finds another', async () => {
  for (const seen of [['1 at 12:00'], ['2 at 12:02'], [], ['2 at 12:02'], ['1 at 12:08']]) await check(seen);
  expect(changes).toEqual([]);
  await check(['3 at 12:10', '1 at 12:08']);
  expect(changes).toEqual([{ reason: expect.stringContaining('synchronous standby'), admits: 'reads' }]);
});

test('a check between them that finds nothing slow makes the two begin anew', async () => {
  await check(['1 at 12:00']);
  isSlow = false;
  await vi.advanceTimersByTimeAsync(500);
  isSlow = true;
  await check(['1 at 12:00']);
  expect(changes).toEqual([]);
});

test('the server is asked about slow statements every two seconds at most', async () => {
  await vi.advanceTimersByTimeAsync(20_000);
  expect(checks).toBeGreaterThanOrEqual(8);
  expect(checks).toBeLessThanOrEqual(10);
});

test('while commits hang, statements that write fail and reads go on; after that nobody waits', async () => {
  await check(['1 at 12:00']);
  await check(['1 at 12:00']);
  expect(availability.closure()?.admits).toBe('reads');
  await vi.advanceTimersByTimeAsync(500);
  expect(new Set(cut)).toEqual(new Set(['a write']));
  cut.length = 0;
  availability.findServer('db:5432 does not accept writes');
  await vi.advanceTimersByTimeAsync(500);
  expect(new Set(cut)).toEqual(new Set(['a write', 'a read']));
});

test('a server that does not answer two checks lets nothing pass, and what was connected to it is suspect', async () => {
  vi.mocked(openClient).mockRejectedValue(new Error('Connection terminated unexpectedly'));
  vi.mocked(openWritable).mockRejectedValue(new Error('no database server accepts writes'));
  await vi.advanceTimersByTimeAsync(600);
  expect([changes, suspicions]).toEqual([[], 0]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(changes).toEqual([{ reason: 'db:5432 does not answer', admits: 'nothing' }]);
  expect(suspicions).toBe(1);
});

test('a check that is refused, as for want of connections, does not mean that the server is gone', async () => {
  vi.mocked(openClient).mockRejectedValue(new Error('too many clients already'));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(changes).toEqual([]);
});

test('a server that is looked for twice is looked for once, and one that is found lets all pass again', async () => {
  vi.mocked(openWritable).mockRejectedValue(new Error('no database server accepts writes'));
  availability.findServer('db:5432 is read-only');
  availability.findServer('db:5432 is a standby');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(vi.mocked(openWritable).mock.calls.length).toBeGreaterThanOrEqual(4);
  expect(vi.mocked(openWritable).mock.calls.length).toBeLessThanOrEqual(5);
  expect(changes).toEqual([{ reason: 'db:5432 is read-only', admits: 'nothing' }]);
  expect(suspicions).toBe(1);

  const other = { label: 'other:5432' } as typeof host;
  vi.mocked(openWritable).mockResolvedValue(opened(other));
  isSlow = false;
  await vi.advanceTimersByTimeAsync(500);
  expect([changes.at(-1), availability.host()]).toEqual([null, other]);
  // What was opened while it was looked for may be connected to the old one.
  expect(suspicions).toBe(2);
});

test('a server is not used again while the commits of before still wait there', async () => {
  await check(['1 at 12:00']);
  vi.mocked(openWritable).mockResolvedValue(opened(host));
  await check(['1 at 12:00']);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(changes).toHaveLength(1);
  isSlow = false;
  waiting = [];
  await vi.advanceTimersByTimeAsync(500);
  expect(changes.at(-1)).toBeNull();
  // Nothing was cut, and the server is the same.
  expect(suspicions).toBe(0);
});

test('a server that is lost while its commits hang is looked for by one search', async () => {
  vi.mocked(openWritable).mockRejectedValue(new Error('no database server accepts writes'));
  await check(['1 at 12:00']);
  await check(['1 at 12:00']);
  availability.findServer('db:5432 does not accept writes');
  expect(changes.map((closure) => closure?.admits)).toEqual(['reads', 'nothing']);
  vi.mocked(openWritable).mockClear();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(vi.mocked(openWritable).mock.calls.length).toBeLessThanOrEqual(4);
});

test('after the end no slow statement is asked about', async () => {
  availability.stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(checks).toBe(0);
});

test('after the end nothing is looked for, and nothing is told', async () => {
  vi.mocked(openWritable).mockRejectedValue(new Error('no database server accepts writes'));
  availability.findServer('db:5432 is read-only');
  await vi.advanceTimersByTimeAsync(100);
  availability.stop();
  vi.mocked(openWritable).mockClear();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([vi.mocked(openWritable).mock.calls, checks, changes.length]).toEqual([[], 0, 1]);
});
