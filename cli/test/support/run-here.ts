import { inThisProcess } from '../../../server/test/support/in-this-process.ts';
import { run } from '../../src/run.ts';
import { envOf, type Finished } from './run-cli.ts';

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command as `runCli` does, but in this process: starting one takes ten times the CPU of most commands. One after the other,
 * because each has the environment, the streams and the exit code of the process for itself. Not for what handles signals, reads
 * standard input or depends on the folder.
 */
export function runHere(
  target: { url: string; key: string },
  args: string[],
  { env = {} }: { env?: Record<string, string> } = {},
): Promise<Finished> {
  const finished = last.then(() => inThisProcess({ ...envOf(target), ...env }, () => run(args)));
  last = finished.catch(() => undefined);
  return finished;
}
