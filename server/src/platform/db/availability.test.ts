import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Availability, createAvailability } from './availability.ts';
import type { DatabaseAddress } from './connection-url.ts';
import type { Closure } from './gate.ts';
import type { InFlight } from './in-flight.ts';
import { type Opened, openClient } from './open-client.ts';

vi.mock(import('./open-client.ts'), async (original) => ({ ...(await original()), openClient: vi.fn() }));

const host = { label: 'db:5432' } as DatabaseAddress['hosts'][number];
const changes: (Closure | null)[] = [];
let waiting: string[];
let checks: number;
let availability: Availability;

/** A statement that has been slow for long, so that the server is asked about it every two seconds. */
const inFlight = {
  olderThan: () => [{ client: { end: async () => {} }, isRead: false, startedAtMs: 0 }],
} as unknown as InFlight;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance'] });
  [waiting, checks] = [[], 0];
  changes.length = 0;
  const client = {
    async query() {
      checks += 1;
      return { rows: waiting.map((commit) => ({ commit })) };
    },
    end: async () => {},
  };
  vi.mocked(openClient).mockResolvedValue({ client, host } as unknown as Opened);
  const address = { hosts: [host], connectTimeoutMs: 1_000 } as unknown as DatabaseAddress;
  const onChange = (closure: Closure | null) => void changes.push(closure);
  availability = createAvailability({ address, inFlight, onChange, onSuspicion: () => {} });
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
