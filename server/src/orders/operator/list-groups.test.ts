import { expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import { readGroups } from './list-groups.ts';

test('groups are sorted by their failed and waiting executions together', async () => {
  const id = '018f2d6a-0000-7000-8000-000000000000';
  const sample = { id, code: 'declined', network: null, upstream_code: null, message: 'x' };
  const group = (name: string, count: number) => ({
    ...{ id: name, oldest: id, newest: id, count, samples: [sample] },
  });
  const rows: Record<string, object[]> = {
    failure_group_list_failed: [group('a', 3), group('b', 1)],
    failure_group_list_waiting: [group('b', 5), group('c', 4)],
  };
  const db = { query: async ({ name }: { name: string }) => rows[name] ?? [] } as unknown as Queryable;
  const groups = await readGroups({ db, clock: { nowMs: () => 1_800_000_000_000 } });
  expect(groups.map((one) => [one.id, one.failed, one.waiting])).toEqual([
    ['b', 1, 5],
    ['c', 0, 4],
    ['a', 3, 0],
  ]);
});
