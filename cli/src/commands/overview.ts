import type { Overview } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { duration, none, time } from '../print/format.ts';
import type { Output } from '../print/output.ts';
import { type Column, createTable } from '../print/table.ts';
import { readTime } from '../read-time.ts';

type Stage = Overview['funnel'][number];
type Failure = Overview['failures'][number];
type Hour = Overview['hours'][number];

const funnelColumns: Column<Stage>[] = [
  { title: 'STAGE', value: ({ stage }) => stage },
  { title: 'ORDERS', value: ({ count }) => String(count), isRight: true },
  { title: 'MEDIAN', value: ({ median_ms }) => typical(median_ms), isRight: true },
  { title: 'P95', value: ({ p95_ms }) => typical(p95_ms), isRight: true },
];

const failureColumns: Column<Failure>[] = [
  { title: 'NOT', value: ({ stage }) => stage },
  { title: 'BECAUSE', value: ({ code }) => code },
  { title: 'TIMES', value: ({ count }) => String(count), isRight: true },
];

const hourColumns: Column<Hour>[] = [
  { title: 'HOUR', value: ({ start }) => time(start) },
  ...(['accepted', 'provisioned', 'failed', 'downloaded', 'installed', 'active'] as const).map((name) => ({
    title: name.toUpperCase(),
    value: (hour: Hour) => String(hour[name]),
    isRight: true,
  })),
];

export function addOverview(program: Command): void {
  const command = program
    .command('overview')
    .description('how the orders of the last day are doing')
    .addOption(new Option('--since <time>', 'start: 7d (ago) or 2026-11-15').argParser(readTime))
    .addOption(new Option('--until <time>', 'end; default now').argParser(readTime))
    .option('--hours', 'also show every hour with orders');
  withAction<{ since?: number; until?: number; hours?: boolean }>(
    command,
    async ({ client, out }, { since, until, hours }) => {
      const overview = await client.overview({
        ...(since !== undefined && { from: since }),
        ...(until !== undefined && { until }),
      });
      if (out.isJson) out.json(overview);
      else print(out, overview, hours === true);
    },
  );
}

function print(out: Output, overview: Overview, withHours: boolean): void {
  createTable(out, funnelColumns)(overview.funnel);
  if (overview.failures.length > 0) {
    out.line('');
    createTable(out, failureColumns)(overview.failures);
  }
  const busy = overview.hours.filter(({ accepted }) => accepted > 0);
  if (withHours && busy.length > 0) {
    out.line('');
    createTable(out, hourColumns)(busy);
  }
  const { from, until, as_of, open_count } = overview;
  const window = `Orders accepted from ${time(from)} to ${time(until)}`;
  out.note(out.noteColors.dim(`${window}, ${open_count} of them open. Counted up to ${time(as_of)}.`));
}

function typical(milliseconds: number | null): string {
  return milliseconds === null ? none : duration(milliseconds);
}
