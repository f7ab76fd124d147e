import { chmod, writeFile } from 'node:fs/promises';
import { type Batch, type Simplane, TimeoutError } from '@simplane/sdk';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { withAction } from '../action.ts';
import { CommandError, usageError } from '../command-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { printDryRun } from '../print/dry-run.ts';
import { none, time } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import type { Output } from '../print/output.ts';
import { startProgress } from '../print/progress.ts';
import { type Column, printResource } from '../print/table.ts';
import { readDuration } from '../read-time.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

const columns: Column<Batch>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'TOTAL', value: ({ total }) => String(total), isRight: true },
  { title: 'SUCCEEDED', value: ({ succeeded }) => String(succeeded), isRight: true },
  { title: 'FAILED', value: ({ failed }) => String(failed), isRight: true },
  { title: 'OPEN', value: ({ open }) => String(open), isRight: true },
  { title: 'PRODUCT', value: ({ product_id }) => product_id ?? none, cutTo: 12 },
  { title: 'CREATED', value: ({ created }) => time(created), isSecondary: true },
];

const formats = ['csv', 'ndjson', 'zip', 'zip_svg', 'cards'] as const;
type Format = (typeof formats)[number];
type OutOptions = { out?: string; format?: Format; timeout: number };

export function addBatches(program: Command): void {
  const batches = program.command('batches').description('orders of many eSIMs at once');
  addCreate(batches);
  const get = withOut(batches.command('get').description('show a batch, or wait for it and write its codes'))
    .argument('<id>', 'id (bat_…)')
    .option('--wait', 'wait until all its orders have ended');
  withAction<OutOptions & { wait?: true }>(get, async ({ client, out }, options, [id = '']) => {
    const format = formatOf(options);
    const batch = await client.batches.get(id);
    if (options.wait) return waitAndPrint(client, out, batch, options);
    printBatch(out, batch);
    if (format) await writeCodes(client, out, id, options, format);
  });
  const list = withListOptions(batches.command('list').description('list batches, newest first'));
  withAction<{ limit: number; all?: boolean }>(list, ({ client, out }, options) =>
    printList(out, options, (query) => client.batches.list(query), {
      columns,
      empty: 'No batches. Order one: `simplane batches create <product> <quantity>`.',
    }),
  );
  const cancel = batches
    .command('cancel')
    .description('cancel the orders of a batch that have not reached the network')
    .argument('<id>', 'id (bat_…)')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions>(cancel, async ({ client, out }, options, [id = '']) =>
    printBatch(out, await client.batches.cancel(id, keyOf(options))),
  );
}

type CreateOptions = OutOptions & WriteOptions & { wait?: true; dryRun?: true };

function addCreate(batches: Command): void {
  const create = withOut(
    batches.command('create').description('order up to 1,000 eSIMs: all are accepted, or none'),
  )
    .argument('<product>', 'product id')
    .argument('<quantity>', 'number of eSIMs', readQuantity)
    .option('--wait', 'wait until all orders have ended')
    .option('--dry-run', 'only check the orders; nothing is ordered')
    .addOption(idempotencyKeyOption());
  withAction<CreateOptions>(create, async ({ client, out }, options, [product = '', quantity = '']) => {
    const isWaiting = options.wait || formatOf(options) !== null;
    const body = { product_id: product, quantity: Number(quantity) };
    if (options.dryRun) return printDryRun(out, await client.batches.create({ ...body, dry_run: true }));
    const batch = await client.batches.create(body, keyOf(options));
    if (isWaiting) {
      // Print the id before waiting: a user who interrupts can look it up instead of ordering again.
      out.note(out.noteColors.dim(`Accepted as ${batch.id}`));
      return waitAndPrint(client, out, batch, options);
    }
    printBatch(out, batch);
    out.note(out.noteColors.dim(`Wait for it: simplane batches get ${batch.id} --wait --out codes.csv`));
  });
}

function withOut(command: Command): Command {
  return command
    .option('--out <file>', 'write the install codes (secrets) to this .csv, .ndjson or .zip file')
    .addOption(
      new Option('--format <format>', 'of the file, if its name does not say it').choices([...formats]),
    )
    .addOption(
      new Option('--timeout <duration>', 'longest wait, such as 30s or 5m')
        .default(600, '10m')
        .argParser(readDuration),
    );
}

function readQuantity(text: string): string {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('Must be a number such as 500.');
  return text;
}

/** Checked before anything is ordered. Null if no file is wanted. */
function formatOf({ out, format }: OutOptions): Format | null {
  if (out === undefined) return null;
  const [, extension = ''] = /\.(csv|ndjson|zip)$/i.exec(out) ?? [];
  const chosen = format ?? (extension.toLowerCase() as Format | '');
  if (chosen === '')
    throw usageError(`--out must end in .csv, .ndjson or .zip, or --format say what it is; got ${out}`);
  return chosen;
}

async function waitAndPrint(
  client: Simplane,
  out: Output,
  accepted: Batch,
  options: OutOptions,
): Promise<void> {
  const { id } = accepted;
  const progress = startProgress(out, describeProgress(accepted));
  let last = '';
  const onProgress = (batch: Batch) => {
    progress.update(describeProgress(batch));
    const line = describeCounts(batch);
    if (!out.showsProgress && line !== last) out.note(line);
    last = line;
  };
  const endMs = performance.now() + options.timeout * 1000;
  let batch: Batch;
  try {
    batch = await client.batches.wait(id, { waitMs: options.timeout * 1000, onProgress });
  } catch (error) {
    // Before the time is over, it is the service that did not answer.
    if (!(error instanceof TimeoutError) || performance.now() < endMs) throw error;
    const nextStep = `Keep waiting: simplane batches get ${id} --wait --timeout 1h`;
    throw new CommandError(error.message, { nextStep, exitCode: exitCodes.unfinished });
  } finally {
    progress.end();
  }
  printBatch(out, batch);
  const format = formatOf(options);
  if (format) await writeCodes(client, out, id, options, format);
  if (batch.failed > 0) {
    const nextStep = `See why: simplane executions list --batch ${id} --status failed`;
    throw new CommandError(`${batch.failed} of ${batch.total} orders failed.`, {
      nextStep,
      exitCode: exitCodes.refused,
    });
  }
}

const barCells = 30;

function describeProgress(batch: Batch): string {
  const filled = Math.round(((batch.total - batch.open) / batch.total) * barCells);
  return `${'█'.repeat(filled)}${'░'.repeat(barCells - filled)} ${describeCounts(batch)}`;
}

function describeCounts({ total, open, failed }: Batch): string {
  return `${total - open} of ${total}${failed > 0 ? `, ${failed} failed` : ''}`;
}

async function writeCodes(
  client: Simplane,
  out: Output,
  id: string,
  { out: path = '' }: OutOptions,
  format: Format,
) {
  const file = await client.batches.installProfilesFile(id, format);
  await writeFile(path, file, { mode: 0o600 });
  await chmod(path, 0o600); // `mode` above does not apply to an existing file
  out.note(`Written to ${path}`);
}

function printBatch(out: Output, batch: Batch): void {
  printResource(out, batch, [
    ['ID', batch.id],
    ['Product', batch.product_id ?? none],
    ['Orders', String(batch.total)],
    ['Succeeded', String(batch.succeeded)],
    [
      'Failed',
      batch.canceled > 0 ? `${batch.failed}, ${batch.canceled} of them canceled` : String(batch.failed),
    ],
    ['Open', String(batch.open)],
    ['Created', time(batch.created)],
    ['Finished', time(batch.finished_at)],
  ]);
}
