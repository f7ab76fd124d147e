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
import { type Column, printThing } from '../print/table.ts';
import { readDuration } from '../read-time.ts';

const columns: Column<Execution>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'TYPE', of: ({ type }) => type },
  { title: 'STATUS', of: ({ status }) => status, paint: paintStatus },
  { title: 'ICCID', of: ({ iccid }) => iccid ?? none },
  { title: 'PRODUCT', of: ({ product_id }) => product_id ?? none },
  { title: 'CREATED', of: ({ created }) => time(created) },
];

export type WaitOptions = { wait?: boolean; timeout: number };

export function addExecutions(program: Command): void {
  const executions = program.command('executions').description('orders and how they stand');

  const list = withListOptions(executions.command('list').description('list orders')).addOption(
    new Option('--status <status>', 'only those').choices([...executionStatuses]),
  );
  withAction<{ limit: number; all?: boolean; status?: Execution['status'] }>(
    list,
    ({ client, out }, options) =>
      printList(
        out,
        options,
        (query) => client.executions.list({ ...query, ...(options.status && { status: options.status }) }),
        { columns, empty: 'No orders yet. `simplane esims create <product>` makes one.' },
      ),
  );

  const get = withWaitOptions(
    executions.command('get').description('show one, or wait for it').argument('<id>', 'exec_…'),
  );
  withAction<WaitOptions>(get, async ({ client, out }, options, [id = '']) => {
    if (options.wait) await waitAndPrint(client, out, id, options);
    else printExecution(out, await client.executions.get(id));
  });
}

export function withWaitOptions(command: Command): Command {
  return command
    .option('--wait', 'until it has succeeded or failed')
    .addOption(
      new Option('--timeout <duration>', 'how long to wait, such as 30s or 5m')
        .default(60, '60s')
        .argParser(readDuration),
    );
}

/** What a write has started: as it stands, or as it ended when that was asked for. */
export async function printStarted(
  client: Simplane,
  out: Output,
  execution: Execution,
  options: WaitOptions,
): Promise<Execution> {
  if (options.wait) {
    // Said before the wait: whoever interrupts it knows what to look for, and does not order again.
    out.note(out.noteColors.dim(`Accepted as ${execution.id}`));
    return waitAndPrint(client, out, execution.id, options);
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
): Promise<Execution> {
  const progress = startProgress(out, `Looking at ${id}`);
  const endMs = performance.now() + timeout * 1000;
  let isSeen = false;
  try {
    const execution = await client.executions.wait(id, {
      waitMs: timeout * 1000,
      onProgress: ({ type, status, attempts }) => {
        isSeen = true;
        progress.say(`${type} is ${status}${attempts > 1 ? `, attempt ${attempts}` : ''}`);
      },
    });
    progress.end();
    printExecution(out, execution);
    return execution;
  } catch (error) {
    progress.end();
    if (error instanceof ExecutionFailedError) printExecution(out, error.execution);
    if (error instanceof TimeoutError && isSeen && performance.now() >= endMs) throw unfinished(id, error);
    throw error;
  }
}

function unfinished(id: string, { message }: Error): CommandError {
  const nextStep = `Wait on: simplane executions get ${id} --wait --timeout 5m`;
  return new CommandError(message, { nextStep, exitCode: exitCodes.unfinished });
}

function printExecution(out: Output, execution: Execution): void {
  const { error } = execution;
  printThing(out, execution, [
    ['ID', execution.id],
    ['Type', execution.type],
    ['Status', execution.status, paintStatus],
    ['Product', execution.product_id ?? none],
    ['ICCID', execution.iccid ?? none],
    ['Attempts', String(execution.attempts)],
    ['Created', time(execution.created)],
    ['Finished', time(execution.finished_at)],
    ...(error ? [['Error', `${error.code}: ${error.message}`] as const] : []),
  ]);
}
