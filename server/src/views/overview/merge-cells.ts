import type { OperatorOverview } from '@simplane/contract';
import { mostFrequent } from './get.ts';

type Counts = OperatorOverview['rates'] | OperatorOverview['backlogs'];
type Failure = OperatorOverview['failures'][number];

/** One overview of several cells. The first is this cell's, whose hours count: another's clock may already be in the next. */
export function mergeOverviews(all: readonly [OperatorOverview, ...OperatorOverview[]]): OperatorOverview {
  const [own] = all;
  return {
    ...own,
    rates: mergeCounts(all.map(({ rates }) => rates)),
    backlogs: mergeCounts(all.map(({ backlogs }) => backlogs)),
    clocks_off: all.flatMap(({ clocks_off }) => clocks_off),
    funnel: own.funnel.map(({ stage }) => mergeStage(all, stage)),
    failed_count: sum(all.map(({ failed_count }) => failed_count)),
    failures: mergeFailures(all.flatMap(({ failures }) => failures)),
    hours: own.hours.map(({ start }) => ({
      ...sumFields(all.flatMap(({ hours }) => hours.filter((hour) => hour.start === start))),
      start,
    })),
  };
}

/** Counts are added; of ages the highest counts. */
function mergeCounts<C extends Counts>(all: readonly C[]): C {
  const names = Object.keys(all[0] ?? {}) as (keyof C)[];
  const merged = names.map((name) => [
    name,
    sumFields(all.map((counts) => counts[name] as Record<string, number>)),
  ]);
  return Object.fromEntries(merged) as C;
}

function sumFields<T extends Record<string, number>>(all: readonly T[]): T {
  const names = Object.keys(all[0] ?? {});
  const valuesOf = (name: string) => all.map((fields) => fields[name] ?? 0);
  return Object.fromEntries(
    names.map((name) => [
      name,
      name.endsWith('_seconds') ? Math.max(...valuesOf(name)) : sum(valuesOf(name)),
    ]),
  ) as T;
}

type Stage = OperatorOverview['funnel'][number];

function mergeStage(all: readonly OperatorOverview[], stage: Stage['stage']): Stage {
  const ofCells = all.flatMap(({ funnel }) => funnel.filter((one) => one.stage === stage));
  return {
    stage,
    count: sum(ofCells.map(({ count }) => count)),
    // The cells' histograms are not here, but a quantile of all orders is at most the largest of the parts'.
    median_ms: largest(ofCells.map(({ median_ms }) => median_ms)),
    p95_ms: largest(ofCells.map(({ p95_ms }) => p95_ms)),
  };
}

function mergeFailures(all: readonly Failure[]): Failure[] {
  const byCode = new Map<string, Failure>();
  for (const failure of all) {
    const name = `${failure.stage} ${failure.code}`;
    const count = failure.count + (byCode.get(name)?.count ?? 0);
    byCode.set(name, { ...failure, count });
  }
  return mostFrequent([...byCode.values()]);
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

function largest(values: readonly (number | null)[]): number | null {
  return values.reduce(
    (most, value) => (most === null || (value !== null && value > most) ? value : most),
    null,
  );
}
