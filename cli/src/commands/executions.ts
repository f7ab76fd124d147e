import { executionStatuses } from '@simplane/contract';
import { type Execution, ExecutionFailedError, type Simplane, TimeoutError } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { CommandError } from '../command-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { none, paintStatus, time } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import type { Output } from '../print/output.ts';
import { startProgress } from '../print/progress.ts';
import { type Column, printResource } from '../print/table.ts';
import { readDuration, readTime } from '../read-time.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

const columns: Column<Execution>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'STATUS', value: ({ status }) => status, paint: paintStatus },
  { title: 'ICCID', value: ({ iccid }) => iccid ?? none },
  { title: 'PRODUCT', value: ({ product_id }) => product_id ?? none, cutTo: 12 },
  { title: 'REFERENCE', value: ({ reference }) => reference ?? '', cutTo: 12 },
  { title: 'CREATED', value: ({ created }) => time(created), isSecondary: true },
];

export type WaitOptions = { wait?: boolean; timeout: number };

export function addExecutions(program: Command): void {
  const executions = program.command('executions').description('progress of orders and other eSIM changes');

  addList(executions);

  const get = withWaitOptions(
    executions
      .command('get')
      .description('show an execution, or wait for it')
      .argument('<id>', 'id (exec_…)'),
  );
  withAction<WaitOptions>(get, async ({ client, out }, options, [id = '']) => {
    if (options.wait) await waitAndPrint(client, out, id, options);
    else printExecution(out, await client.executions.get(id));
  });

  const cancel = executions
    .command('cancel')
    .description('cancel an execution that has not reached the network')
    .argument('<id>', 'id (exec_…)')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions>(cancel, async ({ client, out }, options, [id = '']) => {
    printExecution(out, await client.executions.cancel(id, keyOf(options)));
  });
}

type ListOptions = {
  limit: number;
  all?: boolean;
  status?: Execution['status'];
  reference?: string;
  batch?: string;
  since?: number;
  until?: number;
};

function addList(executions: Command): void {
  const list = withListOptions(executions.command('list').description('list executions'))
    .addOption(new Option('--status <status>', 'only with this status').choices([...executionStatuses]))
    .option('--reference <text>', 'only those of the order with this reference')
    .option('--batch <id>', 'only those of this batch')
    .addOption(new Option('--since <time>', 'at or after: 2h (ago) or 2026-11-15').argParser(readTime))
    .addOption(new Option('--until <time>', 'before this time').argParser(readTime));
  withAction<ListOptions>(list, ({ client, out }, options) => {
    const filters = {
      ...(options.status && { status: options.status }),
      ...(options.reference !== undefined && { reference: options.reference }),
      ...(options.batch !== undefined && { batch_id: options.batch }),
      ...(options.since !== undefined && { 'created[gte]': options.since }),
      ...(options.until !== undefined && { 'created[lt]': options.until }),
    };
    return printList(out, options, (query) => client.executions.list({ ...query, ...filters }), {
      columns,
      empty:
        Object.keys(filters).length > 0
          ? 'No execution matches.'
          : 'No executions. Order an eSIM: `simplane esims create <product>`.',
    });
  });
}

export function withWaitOptions(command: Command): Command {
  return command
    .option('--wait', 'wait until it succeeds or fails')
    .addOption(
      new Option('--timeout <duration>', 'longest wait, such as 30s or 5m')
        .default(60, '60s')
        .argParser(readDuration),
    );
}

/** Prints a new execution, or with --wait the finished one. */
export async function printStarted(
  client: Simplane,
  out: Output,
  execution: Execution,
  options: WaitOptions,
): Promise<Execution> {
  if (options.wait) {
    // Print the id before waiting: a user who interrupts can look it up instead of ordering again.
    out.note(out.noteColors.dim(`Accepted as ${execution.id}`));
    return waitAndPrint(client, out, execution.id, options, execution);
  }
  printExecution(out, execution);
  out.note(out.noteColors.dim(`Wait for it: simplane executions get ${execution.id} --wait`));
  return execution;
}

async function waitAndPrint(
  client: Simplane,
  out: Output,
  id: string,
  { timeout }: WaitOptions,
  accepted?: Execution,
): Promise<Execution> {
  const progress = startProgress(out, `Waiting for ${id}`);
  const endMs = performance.now() + timeout * 1000;
  let last = accepted;
  let isPolled = false;
  try {
    const execution = await client.executions.wait(id, {
      waitMs: timeout * 1000,
      onProgress: (execution) => {
        const { type, status, attempts } = execution;
        last = execution;
        isPolled = true;
        progress.update(`${type} is ${status}${attempts > 1 ? `, attempt ${attempts}` : ''}`);
      },
    });
    progress.end();
    printExecution(out, execution);
    return execution;
  } catch (error) {
    progress.end();
    // What is known goes to standard output however the wait ended: a script needs at least the id.
    const known = error instanceof ExecutionFailedError ? error.execution : last;
    if (known) printExecution(out, known);
    if (error instanceof TimeoutError && isPolled && performance.now() >= endMs) throw waitExpired(id, error);
    throw error;
  }
}

function waitExpired(id: string, { message }: Error): CommandError {
  const nextStep = `Keep waiting: simplane executions get ${id} --wait --timeout 5m`;
  return new CommandError(message, { nextStep, exitCode: exitCodes.unfinished });
}

function printExecution(out: Output, execution: Execution): void {
  const { error } = execution;
  printResource(out, execution, [
    ['ID', execution.id],
    ['Type', execution.type],
    ['Status', execution.status, paintStatus],
    ['Product', execution.product_id ?? none],
    ['ICCID', execution.iccid ?? none],
    ...(execution.reference === null ? [] : [['Reference', execution.reference] as const]),
    ...(execution.batch_id === undefined ? [] : [['Batch', execution.batch_id] as const]),
    ['Attempts', String(execution.attempts)],
    ...(execution.waiting_for === null ? [] : [['Waiting for', execution.waiting_for] as const]),
    ...(execution.next_attempt_at === null
      ? []
      : [['Next attempt', time(execution.next_attempt_at)] as const]),
    ['Created', time(execution.created)],
    ['Finished', time(execution.finished_at)],
    ...(error ? [['Error', `${error.code}: ${error.message}`] as const] : []),
  ]);
}
