import { expect, test } from 'vitest';
import { maxRanges } from '../platform/processes/report.ts';
import { reportOf } from './report-of.ts';

type Parts = Parameters<typeof reportOf>[0];

const parts = {
  config: { cell: null, iccidRanges: null },
  keyring: { keyIds: [] },
  certificates: () => [],
  peers: () => [],
  isPaused: () => false,
  throughput: { read: () => null },
  clockSkewMs: () => 0,
} as unknown as Parts;

test('a heartbeat names a bounded number of ICCID ranges, however many are configured', () => {
  const range = { first: '8999901000000000001', size: 9 };
  const iccidRanges = Array.from({ length: maxRanges + 1 }, () => range);
  const config = { ...parts.config, iccidRanges };
  expect(reportOf({ ...parts, config }).iccid_ranges).toEqual(iccidRanges.slice(0, maxRanges));
});

test('a heartbeat says which system is paused: the core, or the network that provisions', () => {
  const peers = () => ['core', 'smdp', 'mock'].map((kind) => ({ kind })) as ReturnType<Parts['peers']>;
  const pausedWhile = (paused: string) =>
    reportOf({ ...parts, peers, isPaused: (kind) => kind === paused }).networks.map((each) => each.paused);
  expect(pausedWhile('core')).toEqual([true, false, false]);
  expect(pausedWhile('network')).toEqual([false, true, true]);
});
