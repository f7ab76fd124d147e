import { expect, test } from 'vitest';
import { dataLeftOf } from './data-left.ts';

const [soon, later] = [new Date(1_000), new Date(2_000)];
const active = { status: 'active', data_bytes: 100, used_bytes: 30, expires_at: soon } as const;
const queued = { status: 'queued', data_bytes: 50, used_bytes: 0, expires_at: null } as const;

test('what is left is the sum of the active bundles, until the last of them ends', () => {
  expect(dataLeftOf([active, { ...active, expires_at: later }, queued])).toEqual({
    leftBytes: 140,
    until: later,
  });
});

test('before the first use it is what waits, without an end', () => {
  expect(dataLeftOf([queued, queued])).toEqual({ leftBytes: 100, until: null });
});

test('an unlimited bundle makes all of it unlimited, a used one leaves nothing, and a corrected one is not below nothing', () => {
  expect(dataLeftOf([active, { ...active, data_bytes: null }]).leftBytes).toBeNull();
  expect(dataLeftOf([{ ...active, status: 'depleted' }])).toEqual({ leftBytes: 0, until: null });
  expect(dataLeftOf([{ ...active, used_bytes: 200 }]).leftBytes).toBe(0);
});
