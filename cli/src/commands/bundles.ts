import type { Bundle } from '@simplane/sdk';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { withAction } from '../action.ts';
import { printDryRun } from '../print/dry-run.ts';
import { bytes, paintStatus, time } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import { type Column, printResource } from '../print/table.ts';
import { printStarted, type WaitOptions, withWaitOptions } from './executions.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

const columns: Column<Bundle>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'STATUS', value: ({ status }) => status, paint: paintStatus },
  { title: 'USED', value: ({ used_bytes }) => bytes(used_bytes), isRight: true },
  { title: 'DATA', value: ({ data_bytes }) => bytes(data_bytes), isRight: true },
  { title: 'PRODUCT', value: ({ product_id }) => product_id, cutTo: 12 },
  { title: 'REFERENCE', value: ({ reference }) => reference ?? '', cutTo: 12 },
  { title: 'EXPIRES', value: ({ expires_at }) => time(expires_at) },
];

export function addBundles(program: Command): void {
  const bundles = program.command('bundles').description('data allowances of an eSIM');

  const list = withListOptions(
    bundles
      .command('list')
      .description('list bundles with their usage')
      .argument('<iccid>', 'ICCID of the eSIM'),
  );
  withAction<{ limit: number; all?: boolean }>(list, ({ client, out }, options, [iccid = '']) =>
    printList(out, options, (query) => client.bundles.list(iccid, query), {
      columns,
      empty: 'No bundles.',
    }),
  );

  const add = withWaitOptions(
    bundles
      .command('add')
      .description('top up an eSIM')
      .argument('<iccid>', 'ICCID of the eSIM')
      .argument('<product>', 'product id')
      .addOption(
        new Option('--thresholds <percents>', 'usage at which to send an event, such as 50,80,100').argParser(
          readThresholds,
        ),
      )
      .option('--any-region', 'also if it covers no country of the eSIM’s own product'),
  )
    .option('--reference <text>', 'your own name for the order, such as its number')
    .option('--dry-run', 'only check the order; nothing is ordered')
    .addOption(idempotencyKeyOption());
  withAction<AddOptions>(add, async ({ client, out }, options, [iccid = '', product = '']) => {
    const { thresholds, reference, anyRegion } = options;
    const body = {
      product_id: product,
      ...(reference !== undefined && { reference }),
      ...(thresholds && { thresholds }),
      ...(anyRegion && { any_region: anyRegion }),
    };
    if (options.dryRun) return printDryRun(out, await client.bundles.add(iccid, { ...body, dry_run: true }));
    await printStarted(client, out, await client.bundles.add(iccid, body, keyOf(options)), options);
  });

  const cancel = bundles
    .command('cancel')
    .description('cancel a bundle that is queued')
    .argument('<iccid>', 'ICCID of the eSIM')
    .argument('<id>', 'id of the bundle')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions>(cancel, async ({ client, out }, options, [iccid = '', id = '']) => {
    const bundle = await client.bundles.cancel(iccid, id, keyOf(options));
    printResource(out, bundle, [
      ['ID', bundle.id],
      ['Status', bundle.status, paintStatus],
      ['Product', bundle.product_id],
    ]);
  });
}

type AddOptions = WaitOptions &
  WriteOptions & { thresholds?: number[]; reference?: string; anyRegion?: true; dryRun?: true };

function readThresholds(text: string): number[] {
  if (text.trim() === '') return [];
  return text.split(',').map((part) => {
    if (!/^\s*\d{1,3}%?\s*$/.test(part))
      throw new InvalidArgumentError('Must be percentages such as 50,80,100.');
    return Number.parseInt(part, 10);
  });
}
