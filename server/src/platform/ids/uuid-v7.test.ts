import { expect, test } from 'vitest';
import { uuidText } from './uuid.ts';
import { createUuidV7 } from './uuid-v7.ts';

test('ids ascend when the clock is set back, and carry its time again once it has caught up', () => {
  const startMs = 1_800_000_000_000;
  let nowMs = startMs;
  const newUuid = createUuidV7({ nowMs: () => nowMs });
  const ids = [startMs, startMs - 50, startMs - 40, startMs + 10].map((ms) => {
    nowMs = ms;
    return uuidText(newUuid());
  });
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.map((id) => Number.parseInt(id.slice(0, 12), 16))).toEqual([
    startMs,
    startMs,
    startMs,
    startMs + 10,
  ]);
});

test('more ids than a millisecond has room for are valid and ascend', () => {
  const newUuid = createUuidV7({ nowMs: () => 1_800_000_000_000 });
  const ids = Array.from({ length: 10_000 }, () => uuidText(newUuid()));
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/.test(id))).toEqual([]);
});

test('each millisecond begins in the lower half of its counter, so that two thousand ids fit into it', () => {
  let nowMs = 1_800_000_000_000;
  const newUuid = createUuidV7({ nowMs: () => nowMs++ });
  const counters = Array.from({ length: 200 }, () => Number.parseInt(uuidText(newUuid()).slice(13, 16), 16));
  expect(Math.max(...counters)).toBeLessThan(0x800);
});
