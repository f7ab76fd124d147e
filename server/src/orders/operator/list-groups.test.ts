import { failureGroupDays, idPrefixes } from '@simplane/contract';
import { expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { lowestUuidAt } from '../../platform/ids/uuid-range.ts';
import { readGroups } from './list-groups.ts';

function read(rows: Record<string, object[]>) {
  const db = { query: async ({ name }: { name: string }) => rows[name] ?? [] } as unknown as Queryable;
  return readGroups({ db, clock: { nowMs: () => 1_800_000_000_000 } });
}

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
  const groups = await read(rows);
  expect(groups.map((one) => [one.id, one.failed, one.waiting])).toEqual([
    ['b', 1, 5],
    ['c', 0, 4],
    ['a', 3, 0],
  ]);
});

test('a group shows the message and the ids of its newest executions, whether they failed or wait', async () => {
  const uuid = (n: number) => `018f2d6a-0000-7000-8000-00000000000${n}`;
  const group = (...newestFirst: [number, number]) => {
    const [newest, oldest] = newestFirst.map(uuid);
    const samples = newestFirst.map((n) => ({
      ...{ id: uuid(n), code: 'declined', network: null, upstream_code: null, message: `x${n}` },
    }));
    return { id: 'a', oldest, newest, count: 2, samples };
  };
  const [shown] = await read({
    failure_group_list_failed: [group(3, 1)],
    failure_group_list_waiting: [group(4, 2)],
  });
  const executions = [4, 3, 2].map((n) => idOfUuid(idPrefixes.execution, uuid(n)));
  expect(shown).toMatchObject({ message: 'x4', executions });
});

test('of more than a hundred groups, failed and waiting, the largest are shown', async () => {
  const id = '018f2d6a-0000-7000-8000-000000000000';
  const sample = { id, code: 'declined', network: null, upstream_code: null, message: 'x' };
  const groups = (kind: string) =>
    Array.from({ length: 80 }, (_, n) => ({
      ...{ id: `${kind} ${n}`, oldest: id, newest: id, count: n, samples: [sample] },
    }));
  const shown = await read({
    failure_group_list_failed: groups('failed'),
    failure_group_list_waiting: groups('waiting'),
  });
  expect(shown).toHaveLength(100);
  expect(Math.min(...shown.map(({ failed, waiting }) => failed + waiting))).toBe(30);
});

test('a group spans the failed and the waiting ones, and failures of the last days', async () => {
  const nowMs = 1_800_000_000_000;
  const group = (from: number, to: number) => {
    const [oldest, newest] = [lowestUuidAt(nowMs - from * 1_000), lowestUuidAt(nowMs - to * 1_000)];
    const sample = { id: newest, code: 'declined', network: null, upstream_code: null, message: 'x' };
    return { id: 'a', oldest, newest, count: 2, samples: [sample] };
  };
  const asked: unknown[] = [];
  const rows: Record<string, object[]> = {
    failure_group_list_failed: [group(300, 200)],
    failure_group_list_waiting: [group(250, 100)],
  };
  const db = {
    async query({ name }: { name: string }, values: unknown[]) {
      if (name === 'failure_group_list_failed') asked.push(values[0]);
      return rows[name] ?? [];
    },
  } as unknown as Queryable;
  const [shown] = await readGroups({ db, clock: { nowMs: () => nowMs } });
  expect(shown).toMatchObject({ oldest: nowMs / 1_000 - 300, newest: nowMs / 1_000 - 100 });
  expect(asked).toEqual([lowestUuidAt(nowMs - failureGroupDays * 24 * 3_600_000)]);
});
