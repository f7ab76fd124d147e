import { operations } from '@simplane/contract';
import { type Execution, ExecutionFailedError, TimeoutError } from '@simplane/sdk';
import { InvalidArgument, idArgument, refuseOthers } from '../invalid-argument.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { defineTool, reading, type ToolContext } from '../tool.ts';

const operation = operations.getExecution;

// Half of what clients usually give a call before they give it up.
const longestWaitSeconds = 30;

export const getExecution = defineTool({
  name: 'get_execution',
  title: 'Get an execution',
  description:
    'How a piece of work stands. With wait_seconds the answer comes when it has succeeded or failed, or when the time is ' +
    'over, whichever is first; look at status. When it has succeeded, iccid names the eSIM.',
  annotations: reading,
  input: inputSchema(
    {
      properties: { execution_id: operation.params.properties.id },
      required: ['execution_id'],
    },
    {
      wait_seconds: {
        type: 'integer',
        minimum: 0,
        maximum: longestWaitSeconds,
        default: 0,
        description: `How long to wait for the end at most; up to ${longestWaitSeconds}.`,
      },
    },
  ),
  output: outputSchema(operation),
  run: (context, args: { execution_id?: unknown; wait_seconds?: unknown }) => {
    refuseOthers(args, ['execution_id', 'wait_seconds']);
    const id = idArgument('execution_id', args.execution_id);
    const waitSeconds = secondsOf(args.wait_seconds ?? 0);
    if (waitSeconds > 0) return wait(context, id, waitSeconds * 1_000);
    return context.simplane.executions.get(id, { signal: context.signal });
  },
});

function secondsOf(value: unknown): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= longestWaitSeconds) {
    return value as number;
  }
  throw new InvalidArgument(
    'wait_seconds',
    `wait_seconds must be an integer from 0 to ${longestWaitSeconds}; call again to wait longer.`,
  );
}

/** An execution that failed, or is not done yet, is an answer too: the caller asked how it stands. */
async function wait(
  { simplane, signal, stopping, report }: ToolContext,
  id: string,
  waitMs: number,
): Promise<Execution> {
  let last: Execution | undefined;
  let looks = 0;
  // Not AbortSignal.any: on Node 20 it would hang something on `stopping` with every call, until the process ends.
  const either = new AbortController();
  const abort = () => either.abort();
  const signals = [signal, ...(stopping ? [stopping] : [])];
  for (const one of signals) one.addEventListener('abort', abort);
  if (signals.some(({ aborted }) => aborted)) abort();
  try {
    return await simplane.executions.wait(id, {
      waitMs,
      signal: either.signal,
      onProgress: (execution) => {
        last = execution;
        looks += 1;
        report(looks, `${id} is ${execution.status}`);
      },
    });
  } catch (error) {
    if (error instanceof ExecutionFailedError) return error.execution;
    if (last && (error instanceof TimeoutError || stopping?.aborted)) return last;
    throw error;
  } finally {
    for (const one of signals) one.removeEventListener('abort', abort);
  }
}
