import { afterEach, expect, test, vi } from 'vitest';
import { untilFrozen } from './parts.ts';

afterEach(() => vi.restoreAllMocks());

test.each([
  ['30 s', 29_999, 'ended'],
  ['longer', 30_001, 'a lock is kept. The account stays frozen'],
])('a move waits for %s, and then gives up with what it waits for', async (_, waitedMs, outcome) => {
  vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(waitedMs);
  const met = vi.fn(async () => met.mock.calls.length > 3);
  const waiting = untilFrozen(met, 'a lock is kept').then(
    () => 'ended',
    ({ message }: Error) => message,
  );
  expect(await waiting).toContain(outcome);
});
