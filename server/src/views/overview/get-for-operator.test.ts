import { expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import { throughputNames } from '../../platform/telemetry/throughput.ts';
import { readOverview } from './get-for-operator.ts';

test('rates are those of all processes that report them, and what is due longest has its age in whole seconds', async () => {
  const rate = (last_minute: number) => ({ last_minute, last_hour: last_minute * 60 });
  const report = (value: number) => {
    return { throughput: Object.fromEntries(throughputNames.map((name) => [name, rate(value)])) };
  };
  const rows = [{}, report(2), report(3), { throughput: {} }].map((given) => ({ host: 'a', report: given }));
  const db = {
    async query({ name }: { name: string }) {
      if (name === 'queues_read') return [{ queue: 'deliveries', oldest_due_seconds: 7.9 }];
      return name.includes('overview') ? [] : rows;
    },
  } as unknown as Queryable;
  const { rates, backlogs } = await readOverview({
    db: db as never,
    clock: { nowMs: () => 1_800_000_000_000 },
  });
  expect(Object.values(rates)).toEqual(throughputNames.map(() => rate(5)));
  expect([backlogs.executions.oldest_due_seconds, backlogs.deliveries.oldest_due_seconds]).toEqual([0, 7]);
});
