import { expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import { partsOf, type StoredRecord, type UsageWrite, writeUsage } from './usage-sql.ts';

test('usage is not written if an eSIM is no longer as it was read', async () => {
  const written = { esims: 0, bundles: 0 };
  const tx = { query: async () => [written] } as unknown as Queryable;
  const id = '018f2d6a-0000-7000-8000-000000000000';
  const unknown = { country: null, country_observed_at: null, not_covered_on: null, not_covered_in: null };
  const to = { ...unknown, account_id: id, id, status: 'active', uncovered_bytes: 0, late_bytes: 0 };
  const esims = [{ from: 'active', to }] as unknown as UsageWrite['esims'];
  const given = { records: [], corrected: [], bundles: [], esims };
  await expect(writeUsage(tx, given)).rejects.toThrow('changed although it is locked');
  written.esims = 1;
  await writeUsage(tx, given);
});

test('a record can be corrected if it is known where it was counted, or if it had no bytes', () => {
  const stored = (given: Partial<StoredRecord>) =>
    partsOf({
      ...{ iccid: '1', record_id: 'r', bytes: 7, country: null, bundle_id: null, parts: null },
      ...{ corrected_by: null, ...given },
    });
  expect(stored({ parts: { uncovered: 3, b: 4 } })).toEqual([
    { place: 'uncovered', bytes: 3 },
    { place: 'b', bytes: 4 },
  ]);
  expect(stored({ bundle_id: 'b' })).toEqual([{ place: 'b', bytes: 7 }]);
  expect(stored({ bytes: 0 })).toEqual([]);
  // A release that did not store it has counted it.
  expect(stored({})).toBeNull();
});
