import type { RecoveryPreview } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { time } from '../print/format.ts';
import type { Output } from '../print/output.ts';
import { type Column, createTable, printResource } from '../print/table.ts';
import { readTime } from '../read-time.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

type RecoverOptions = WriteOptions & { since?: number; until?: number; type?: string; dryRun?: true };

export function addRecover(webhooks: Command): void {
  const recover = webhooks
    .command('recover')
    .description('deliver the events an endpoint missed')
    .argument('<id>', 'endpoint id (we_…)')
    .addOption(
      new Option(
        '--since <time>',
        'only since then, such as 2h (ago) or 2026-11-15T08:00:00Z, and all it subscribes to now',
      ).argParser(readTime),
    )
    .addOption(new Option('--until <time>', 'only before this time').argParser(readTime))
    .option('--type <types>', 'only these types, or families such as esim.*; separated by commas')
    .option('--dry-run', 'only count what would be delivered')
    .addOption(idempotencyKeyOption());
  withAction<RecoverOptions>(recover, async ({ client, out }, options, [id = '']) => {
    const { since, until, type } = options;
    const body = {
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
      ...(type !== undefined && { types: type.split(',') }),
    };
    if (options.dryRun) {
      const asked = { ...body, dry_run: true } as const;
      return printPreview(out, await client.webhookEndpoints.recover(id, asked, keyOf(options)));
    }
    const recovery = await client.webhookEndpoints.recover(id, body, keyOf(options));
    if (out.isJson) return out.json(recovery);
    out.line(`Started ${recovery.id}. It queues the events that ${id} missed since ${time(recovery.since)}.`);
    out.note(out.noteColors.dim(`To see its progress: simplane api GET /v1/recoveries/${recovery.id}`));
  });
}

function printPreview(out: Output, preview: RecoveryPreview): void {
  const { event_count: count, types, capped, since } = preview;
  printResource(out, preview, [
    ['Would queue', `${count}${capped ? ' or more' : ''} missed since ${time(since)}`],
    ...types.map(({ type, count }) => [`· ${type}`, String(count)] as const),
  ]);
}

type Missed = { day: string; type: string; count: number };

const columns: Column<Missed>[] = [
  { title: 'DAY', value: ({ day }) => day },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'EVENTS', value: ({ count }) => String(count), isRight: true },
];

export function addUndelivered(webhooks: Command): void {
  const undelivered = webhooks
    .command('undelivered')
    .description('count what an endpoint did not receive, by day (UTC) and type')
    .argument('<id>', 'endpoint id (we_…)');
  withAction(undelivered, async ({ client, out }, _, [id = '']) => {
    const found = await client.webhookEndpoints.undelivered(id);
    if (out.isJson) return out.json(found);
    if (found.event_count === 0) return out.note('Nothing: it received every event, or will soon.');
    createTable(out, columns)(found.days.flatMap(({ day, types }) => types.map((one) => ({ day, ...one }))));
    const total = `${found.event_count}${found.capped ? ' or more' : ''} events since ${time(found.oldest)}.`;
    out.note(out.noteColors.dim(`${total} To deliver them: simplane webhooks recover ${id}`));
  });
}
