import { expect, test } from 'vitest';
import { lowestUuidAt } from '../../../platform/ids/uuid-range.ts';
import { presentRecovery } from './present.ts';
import type { RecoveryRow } from './sql.ts';

const [from, until] = [1_000_000, 2_000_000].map((ms) => lowestUuidAt(ms)) as [string, string];
const row: RecoveryRow = {
  ...{ id: from, endpoint_id: from, from_event: from, until_event: until, position: until },
  ...{ checked_count: 0, queued_count: 0, is_canceled: false, finished_at: null, types: null },
  created_at: new Date(3_000_000),
};

test.each<[string, Partial<RecoveryRow>, string, number]>([
  ['has not begun', {}, 'queued', 0],
  ['has searched half of its time', { position: lowestUuidAt(1_500_000) }, 'running', 50],
  ['has searched all, and is about to finish', { position: from }, 'running', 99],
  ['has finished', { position: from, finished_at: new Date(3_100_000) }, 'succeeded', 100],
  ['was canceled', { finished_at: new Date(3_100_000), is_canceled: true }, 'canceled', 0],
])('one that %s', (_, changes, status, progress_percent) => {
  expect(presentRecovery({ ...row, ...changes })).toMatchObject({ status, progress_percent });
});

test('the end of the time is told if one was chosen', () => {
  expect(presentRecovery(row)).toMatchObject({ since: 1_000, until: 2_000 });
  expect(presentRecovery({ ...row, created_at: new Date(1_900_000) }).until).toBeNull();
});

test('a recovery of no time at all, or whose search begins in the future, has a progress too', () => {
  const moment = { from_event: until, until_event: until };
  expect(presentRecovery({ ...row, ...moment }).progress_percent).toBe(0);
  expect(presentRecovery({ ...row, ...moment, position: from }).progress_percent).toBe(99);
  const future = lowestUuidAt(9_000_000);
  const toNow = { ...row, until_event: future, position: future };
  expect(presentRecovery(toNow)).toMatchObject({ until: null, progress_percent: 0 });
  const halfway = { ...toNow, position: lowestUuidAt(2_000_000) };
  expect(presentRecovery(halfway)).toMatchObject({ status: 'running', progress_percent: 50 });
});
