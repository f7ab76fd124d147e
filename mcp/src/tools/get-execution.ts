import { operations } from '@simplane/contract';
import { type Execution, ExecutionFailedError, TimeoutError } from '@simplane/sdk';
import { InvalidArgument, idArgument } from '../invalid-argument.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { defineTool, readOnly, type ToolContext } from '../tool.ts';

const operation = operations.getExecution;

// Half of the usual client timeout.
const maxWaitSeconds = 30;

export const getExecution = defineTool({
  name: 'get_execution',
  title: 'Get an execution',
  description:
    'Returns the status of an execution. With wait_seconds, waits until it has succeeded or failed, or until that time ' +
    'has passed, so check status. Once it has succeeded, iccid identifies the eSIM.',
  scope: operation.scope,
  annotations: readOnly,
  input: inputSchema(
    {
      properties: { execution_id: operation.params.properties.id },
      required: ['execution_id'],
    },
    {
      wait_seconds: {
        type: 'integer',
        minimum: 0,
        maximum: maxWaitSeconds,
        default: 0,
        description: `Seconds to wait for the execution to finish; at most ${maxWaitSeconds}.`,
      },
    },
  ),
  output: outputSchema(operation),
  argumentNames: () => ({ id: 'execution_id' }),
  run: (context, args: { execution_id?: unknown; wait_seconds?: unknown }) => {
    const id = idArgument('execution_id', args.execution_id);
    const waitSeconds = parseWaitSeconds(args.wait_seconds ?? 0);
    if (waitSeconds > 0) return wait(context, id, waitSeconds * 1_000);
    return context.simplane.executions.get(id, { signal: context.signal });
  },
});

function parseWaitSeconds(value: unknown): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= maxWaitSeconds) {
    return value as number;
  }
  throw new InvalidArgument(
    'wait_seconds',
    `wait_seconds must be an integer from 0 to ${maxWaitSeconds}; call again to wait longer.`,
  );
}

/** Returns the execution even if it failed or is unfinished: the caller asked for its status. */
async function wait(
  { simplane, signal, stopping, report }: ToolContext,
  id: string,
  waitMs: number,
): Promise<Execution> {
  let last: Execution | undefined;
  let polls = 0;
  // Not AbortSignal.any: on Node 20 every call would leak a listener on `stopping`.
  const combined = new AbortController();
  const abort = () => combined.abort();
  const signals = [signal, ...(stopping ? [stopping] : [])];
  for (const source of signals) source.addEventListener('abort', abort);
  if (signals.some(({ aborted }) => aborted)) abort();
  try {
    return await simplane.executions.wait(id, {
      waitMs,
      signal: combined.signal,
      onProgress: (execution) => {
        last = execution;
        polls += 1;
        report(polls, `${id} is ${execution.status}`);
      },
    });
  } catch (error) {
    if (error instanceof ExecutionFailedError) return error.execution;
    if (last && (error instanceof TimeoutError || stopping?.aborted)) return last;
    throw error;
  } finally {
    for (const source of signals) source.removeEventListener('abort', abort);
  }
}
