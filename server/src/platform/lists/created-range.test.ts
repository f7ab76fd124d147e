import { expect, test } from 'vitest';
import { lowestUuid, lowestUuidAt } from '../ids/uuid-range.ts';
import { createdRangeOf, idRangeOf } from './created-range.ts';

const end = 253_402_300_800;

test.each([
  [{ 'created[gte]': 5 }, { fromSeconds: 5, untilSeconds: end }],
  [{ 'created[gt]': 5 }, { fromSeconds: 6, untilSeconds: end }],
  [{ 'created[lt]': 5 }, { fromSeconds: 0, untilSeconds: 5 }],
  [{ 'created[lte]': 5 }, { fromSeconds: 0, untilSeconds: 6 }],
  [
    { 'created[gt]': 3, 'created[gte]': 5, 'created[lt]': 9, 'created[lte]': 7 },
    { fromSeconds: 5, untilSeconds: 8 },
  ],
  [{}, undefined],
])('%j is a range of whole seconds', (query, range) => {
  expect(createdRangeOf(query)).toEqual(range);
});

test('a page has the ids of its range, up to where the page before it ended', () => {
  const range = { fromSeconds: 5, untilSeconds: 6 };
  const [from, until] = [lowestUuidAt(5_000), lowestUuidAt(6_000)];
  expect(idRangeOf(range, null)).toEqual({ fromUuid: from, beforeUuid: until });
  expect(idRangeOf(range, lowestUuidAt(5_500))).toEqual({ fromUuid: from, beforeUuid: lowestUuidAt(5_500) });
  expect(idRangeOf(range, lowestUuidAt(7_000))).toEqual({ fromUuid: from, beforeUuid: until });
  expect(idRangeOf(range, null, 1_000)).toEqual({
    fromUuid: lowestUuidAt(4_000),
    beforeUuid: lowestUuidAt(7_000),
  });
  expect(idRangeOf(undefined, until)).toEqual({ fromUuid: lowestUuid, beforeUuid: until });
});
