import { expect, test } from 'vitest';
import { uuidText } from './uuid.ts';
import { highestUuidAt, lowestUuid, lowestUuidAt } from './uuid-range.ts';
import { createUuidV7 } from './uuid-v7.ts';

test('every id of a millisecond is within its range, and ids of its neighbors are not', () => {
  let nowMs = 1_800_000_000_000;
  const newUuid = createUuidV7({ nowMs: () => nowMs });
  const ids = [nowMs, nowMs + 1, nowMs + 2].map((ms) => {
    nowMs = ms;
    return uuidText(newUuid());
  });
  const middle = nowMs - 1;
  const [low, high] = [lowestUuidAt(middle), highestUuidAt(middle)].map((id) => id.replaceAll('-', ''));
  expect(ids.map((id) => id >= `${low}` && id <= `${high}`)).toEqual([false, true, false]);
});

test('times before 1970 have the range of its first millisecond', () => {
  expect([lowestUuidAt(-1), lowestUuidAt(0)]).toEqual([lowestUuid, lowestUuid]);
});
