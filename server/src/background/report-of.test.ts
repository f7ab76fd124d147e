import { expect, test } from 'vitest';
import { maxRanges } from '../platform/processes/report.ts';
import { reportOf } from './report-of.ts';

test('a heartbeat names a bounded number of ICCID ranges, however many are configured', () => {
  const range = { first: '8999901000000000001', last: '8999901000000000009' };
  const parts = {
    config: { cell: null, iccidRanges: Array.from({ length: maxRanges + 1 }, () => range) },
    keyring: { keyIds: [] },
    certificates: () => [],
    peers: () => [],
    isPaused: () => false,
    throughput: { read: () => null },
    clockSkewMs: () => 0,
  } as unknown as Parameters<typeof reportOf>[0];
  expect(reportOf(parts).iccid_ranges).toEqual(Array.from({ length: maxRanges }, () => range));
});
