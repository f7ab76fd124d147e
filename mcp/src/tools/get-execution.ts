import { operations } from '@simplane/contract';
import { type Execution, ExecutionFailedError, TimeoutError } from '@simplane/sdk';
import { idArgument } from '../invalid-argument.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { defineTool, readOnly, type ToolContext } from '../tool.ts';
import { parseWaitSeconds, waitSecondsSchema, withEndOfWait } from '../wait-seconds.ts';

const operation = operations.getExecution;
const waitBounds = { minimum: 0, default: 0 };

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
    { wait_seconds: waitSecondsSchema(waitBounds, 'the execution to finish') },
  ),
  output: outputSchema(operation),
  argumentNames: () => ({ id: 'execution_id' }),
  run: (context, args: { execution_id?: unknown; wait_seconds?: unknown }) => {
    const id = idArgument('execution_id', args.execution_id);
    const waitSeconds = parseWaitSeconds(args.wait_seconds, waitBounds);
    if (waitSeconds > 0) return wait(context, id, waitSeconds * 1_000);
    return context.simplane.executions.get(id, { signal: context.signal });
  },
});

/** Returns the execution even if it failed or is unfinished: the caller asked for its status. */
function wait(context: ToolContext, id: string, waitMs: number): Promise<Execution> {
  const { simplane, stopping, report } = context;
  let last: Execution | undefined;
  let polls = 0;
  return withEndOfWait(context, async (signal) => {
    try {
      return await simplane.executions.wait(id, {
        waitMs,
        signal,
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
    }
  });
}
