import { type InputFor, OperatorOverview } from '@simplane/contract';
import type { OperatorContext } from '../../accounts/context.ts';
import type { Cell } from '../../platform/cell.ts';
import { answersIn, askedCells, isOf } from '../../platform/cells/asked-cells.ts';
import { isFormOf } from '../../platform/cells/is-form-of.ts';
import { unixSeconds } from '../../platform/clock.ts';
import { readQueues } from '../../platform/db/queues.ts';
import { timeWindowOf } from '../../platform/lists/time-window.ts';
import { clocksOffIn, readReports } from '../../platform/processes/read-reports.ts';
import { throughputNames } from '../../platform/telemetry/throughput.ts';
import { failuresOf, grid, hoursOf, stageOf } from './get.ts';
import { mergeOverviews } from './merge-cells.ts';
import { readBacklogs, readCounts } from './sql/reading.ts';
import { allAccounts, stages } from './stages.ts';

const isOverview = isFormOf<OperatorOverview>(OperatorOverview);

/** The whole deployment, and the other cells if there are any. */
export async function getOperatorOverview(
  ctx: OperatorContext,
  { query }: InputFor<'getOperatorOverview'>,
): Promise<OperatorOverview> {
  const { cell, cells } = ctx;
  const isOwnOnly = query.cells === 'own';
  if (!isOwnOnly && cells.others.length === 0) return readOverview(ctx);
  const [own, others] = await Promise.all([
    readOverview(ctx),
    isOwnOnly
      ? []
      : cells.ask<OperatorOverview>({
          method: 'GET',
          path: '/v1/operator/overview?cells=own',
          isAnswer: (json, of): json is OperatorOverview => isOverview(json) && isOf(of, json),
        }),
  ]);
  const ofCells = answersIn(others).map(({ cell: of, answer }) => labelClocks(answer, of));
  return { ...mergeOverviews([labelClocks(own, cell), ...ofCells]), cells: askedCells(cell, others) };
}

function labelClocks(overview: OperatorOverview, cell: Cell): OperatorOverview {
  return { ...overview, clocks_off: overview.clocks_off.map((process) => ({ ...process, cell })) };
}

/** This cell: what its processes do, what waits, and how far the orders of the last day have come. */
export async function readOverview({
  db,
  clock,
}: Pick<OperatorContext, 'db' | 'clock'>): Promise<OperatorOverview> {
  const nowMs = clock.nowMs();
  const window = timeWindowOf({}, nowMs, grid);
  const [reports, backlogs, queues, counts] = await Promise.all([
    readReports(db),
    readBacklogs(db),
    readQueues(db),
    readCounts(db, allAccounts, window),
  ]);
  const hours = hoursOf(window, counts, []);
  const ended = hours.reduce((sum, { accepted }) => sum + accepted, 0);
  const oldestOf = (name: string) =>
    Math.floor(queues.find(({ queue }) => queue === name)?.oldest_due_seconds ?? 0);
  return {
    object: 'operator_overview',
    as_of: Math.floor(nowMs / 1000),
    rates: ratesIn(reports),
    backlogs: {
      executions: { count: backlogs.executions, oldest_due_seconds: oldestOf('executions') },
      deliveries: { count: backlogs.deliveries, oldest_due_seconds: oldestOf('deliveries') },
    },
    clocks_off: clocksOffIn(reports),
    from: unixSeconds(window.from),
    funnel: [
      { stage: 'accepted', count: ended + backlogs.orders, median_ms: null, p95_ms: null },
      ...stages.map((stage) => stageOf(stage, counts)),
    ],
    failed_count: hours.reduce((sum, { failed }) => sum + failed, 0),
    failures: failuresOf(counts),
    hours,
  };
}

/** The sum over all processes. */
function ratesIn(reports: Awaited<ReturnType<typeof readReports>>): OperatorOverview['rates'] {
  const rates = throughputNames.map((name) => {
    const ofProcesses = reports.flatMap(({ report }) => report.throughput?.[name] ?? []);
    return [
      name,
      {
        last_minute: ofProcesses.reduce((sum, rate) => sum + rate.last_minute, 0),
        last_hour: ofProcesses.reduce((sum, rate) => sum + rate.last_hour, 0),
      },
    ];
  });
  return Object.fromEntries(rates) as OperatorOverview['rates'];
}
