import { OperatorOverview } from '@simplane/contract';
import { describe, expect, test } from 'vitest';
import { mergeOverviews } from './merge-cells.ts';

const [example] = (OperatorOverview as unknown as { examples: [OperatorOverview] }).examples;

function overview(changes: Partial<OperatorOverview> = {}): OperatorOverview {
  return { ...example, clocks_off: [], failures: [], hours: [], ...changes };
}

const stage = (median_ms: number | null, p95_ms: number | null, count: number) =>
  ({ stage: 'provisioned', count, median_ms, p95_ms }) as const;

const hour = (start: number, accepted: number) => ({
  ...{ start, accepted },
  ...{ provisioned: 1, failed: 2, downloaded: 3, installed: 4, active: 5 },
});

describe('one overview of several cells', () => {
  test('is that of the only one', () => {
    expect(mergeOverviews([example])).toEqual(example);
  });

  test('has the sum of rates and counts, and the highest age', () => {
    const waiting = (count: number, oldest_due_seconds: number) => ({ count, oldest_due_seconds });
    const merged = mergeOverviews([
      overview({ backlogs: { executions: waiting(3, 10), deliveries: waiting(0, 0) }, failed_count: 2 }),
      overview({ backlogs: { executions: waiting(4, 7), deliveries: waiting(1, 90) }, failed_count: 5 }),
    ]);
    expect(merged.backlogs).toEqual({ executions: waiting(7, 10), deliveries: waiting(1, 90) });
    expect(merged.rates.requests).toEqual({
      last_minute: example.rates.requests.last_minute * 2,
      last_hour: example.rates.requests.last_hour * 2,
    });
    expect(merged.failed_count).toBe(7);
  });

  test('names the processes of every cell whose clock is wrong', () => {
    const off = (process_id: string) => ({ process_id, host: 'worker-1', clock_skew_ms: 5_000 });
    const merged = mergeOverviews([
      overview({ clocks_off: [off('proc_1')] }),
      overview({ clocks_off: [off('proc_2')] }),
    ]);
    expect(merged.clocks_off).toEqual([off('proc_1'), off('proc_2')]);
  });

  test('adds hours up by their start, and leaves out those that only another cell’s clock has reached', () => {
    const merged = mergeOverviews([
      overview({ hours: [hour(0, 1), hour(3_600, 2)] }),
      overview({ hours: [hour(3_600, 10), hour(7_200, 100)] }),
    ]);
    expect(merged.hours).toMatchObject([
      { start: 0, accepted: 1, active: 5 },
      { start: 3_600, accepted: 12, active: 10 },
    ]);
    expect(merged.hours).toHaveLength(2);
  });

  test('has the times of the slowest cell, and none if no cell knows any', () => {
    const funnelOf = (...stages: ReturnType<typeof stage>[]) => {
      const [first, ...others] = stages.map((one) => overview({ funnel: [one] }));
      return mergeOverviews([first as OperatorOverview, ...others]).funnel;
    };
    expect(funnelOf(stage(100, 900, 1), stage(200, 800, 2))).toEqual([stage(200, 900, 3)]);
    expect(funnelOf(stage(null, null, 0), stage(5, 6, 2))).toEqual([stage(5, 6, 2)]);
    expect(funnelOf(stage(5, 6, 2), stage(null, null, 0))).toEqual([stage(5, 6, 2)]);
    expect(funnelOf(stage(null, null, 0), stage(null, null, 0))).toEqual([stage(null, null, 0)]);
  });

  test('adds failures up by stage and code, the most frequent first, at most fifty', () => {
    const failure = (code: string, count: number) => ({ stage: 'provisioned', code, count }) as const;
    const merged = mergeOverviews([
      overview({ failures: [failure('a', 5), failure('b', 4)] }),
      overview({ failures: [failure('b', 2), { ...failure('a', 1), stage: 'downloaded' }] }),
    ]);
    expect(merged.failures).toEqual([
      failure('b', 6),
      failure('a', 5),
      { stage: 'downloaded', code: 'a', count: 1 },
    ]);
    const equal = overview({ failures: [failure('z', 1), failure('x', 1), failure('y', 1)] });
    expect(mergeOverviews([equal]).failures.map(({ code }) => code)).toEqual(['x', 'y', 'z']);
    const many = (from: number) => Array.from({ length: 40 }, (_, i) => failure(`code-${from + i}`, 1));
    expect(
      mergeOverviews([overview({ failures: many(0) }), overview({ failures: many(40) })]).failures,
    ).toHaveLength(50);
  });
});
