import { expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import { type UsageWrite, writeUsage } from './usage-sql.ts';

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
