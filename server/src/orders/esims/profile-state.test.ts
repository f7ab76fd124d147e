import type { ProfileState } from '@simplane/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ObservedState } from '../../network/port.ts';
import { isPastFailure, nextProfileState } from './profile-state.ts';

const states = ['error', 'downloaded', 'installed', 'enabled', 'disabled', 'deleted'] as const;
type Seen = { state: ObservedState; at: Date };
type Known = { state: ProfileState; at: Date | null };

// Few distinct times, so that many observations have the same time.
const observation = fc.record({
  state: fc.constantFrom<ObservedState>(...states),
  at: fc.integer({ min: 0, max: 6 }).map((second) => new Date(second * 1000)),
});
const sequence = fc.array(observation, { minLength: 1, maxLength: 20 });
const released: Known = { state: 'released', at: new Date(3000) };

function observeAll(start: Known, all: Seen[]): { known: Known; changes: Seen[] } {
  const changes: Seen[] = [];
  let known = start;
  for (const seen of all) {
    const next = nextProfileState(known, seen);
    if (!next) continue;
    if (next.isChange) changes.push(seen);
    known = { state: next.state, at: next.at };
  }
  return { known, changes };
}

/** The independent model: sort by time, then by position in the life cycle; the last one wins. */
function newest(all: Seen[]): Seen | undefined {
  return all
    .toSorted((a, b) => Number(a.at) - Number(b.at) || states.indexOf(a.state) - states.indexOf(b.state))
    .at(-1);
}

describe('observations of a profile', () => {
  test('lead to the newest state for any order and repetition', () => {
    fc.assert(
      fc.property(
        sequence,
        fc.infiniteStream(fc.nat()),
        fc.constantFrom<Known>(released, { state: 'unknown', at: null }),
        (all, places, start) => {
          const repeated = all.flatMap((seen) => [
            seen,
            all[(places.next().value ?? 0) % all.length] ?? seen,
          ]);
          expect(observeAll(start, repeated).known).toEqual(newest(all));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('never go back in time, and report a change only if the state differs', () => {
    fc.assert(
      fc.property(sequence, (all) => {
        const { changes } = observeAll(released, all);
        changes.forEach((seen, index) => {
          const before = changes[index - 1];
          if (!before) return;
          expect(Number(seen.at)).toBeGreaterThanOrEqual(Number(before.at));
          expect(seen.state).not.toBe(before.state);
        });
      }),
      { numRuns: 2_000 },
    );
  });

  test('of a known state report no change; a newer one updates only the time', () => {
    const known = { state: 'enabled', at: new Date(5000) } as const;
    expect(nextProfileState(known, known)).toBeNull();
    expect(nextProfileState(known, { state: 'enabled', at: new Date(6000) })).toEqual({
      state: 'enabled',
      at: new Date(6000),
      isChange: false,
    });
  });

  test('replace the released state even if our clock is ahead of the network’s', () => {
    expect(nextProfileState(released, { state: 'downloaded', at: new Date(0) })?.isChange).toBe(true);
  });
});

test('a failure is past if a device already has what failed; a deleted profile can fail again', () => {
  const all = ['unknown', 'released', ...states] as const;
  const past = (step: 'download' | 'install') => all.filter((state) => isPastFailure(state, step));
  expect(past('download')).toEqual(['downloaded', 'installed', 'enabled', 'disabled']);
  expect(past('install')).toEqual(['installed', 'enabled', 'disabled']);
});
