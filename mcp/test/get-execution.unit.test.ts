import { type Execution, ExecutionFailedError, type Simplane, TimeoutError } from '@simplane/sdk';
import { expect, test } from 'vitest';
import { getExecution } from '../src/tools/get-execution.ts';

const execution = { id: 'exec_1', status: 'running' } as Execution;

/** What an agent is told that waits for an execution, whose wait ends with this error after it has seen the execution. */
function toldAfter(error: Error, stopping = new AbortController().signal): Promise<object> {
  const wait = async (_id: string, { onProgress }: { onProgress(seen: Execution): void }) => {
    onProgress(execution);
    throw error;
  };
  const simplane = { executions: { wait } } as unknown as Simplane;
  const context = { simplane, signal: new AbortController().signal, stopping, report: () => {} };
  return getExecution.run(context, { execution_id: 'exec_1', wait_seconds: 1 });
}

test('who has waited in vain, or for a server that stops, is told the status that there is', async () => {
  expect(await toldAfter(new TimeoutError('1 s have passed'))).toBe(execution);
  expect(await toldAfter(new Error('aborted'), AbortSignal.abort())).toBe(execution);
  await expect(toldAfter(new Error('a bug'))).rejects.toThrow('a bug');
});

test('who waits for an execution that fails is told that it failed, and why', async () => {
  const failed = { ...execution, status: 'failed' } as Execution;
  expect(await toldAfter(new ExecutionFailedError(failed))).toBe(failed);
});
