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
  const finished = last.then(() => runAlone(args, { ...envOf(target), ...env }));
  last = finished.catch(() => undefined);
  return finished;
}

async function runAlone(args: string[], env: Record<string, string>): Promise<Finished> {
  const before = { env: process.env, exitCode: process.exitCode };
  const printed = { stdout: '', stderr: '' };
  const restore = [capture('stdout', printed), capture('stderr', printed)];
  process.env = { PATH: before.env['PATH'] ?? '', ...env };
  process.exitCode = undefined;
  try {
    await run(args);
    return { code: process.exitCode ?? 0, ...printed };
  } finally {
    process.exitCode = before.exitCode;
    process.env = before.env;
    for (const one of restore) one();
  }
}

/** Keeps what is written instead of writing it. Returns what ends this. */
function capture(name: 'stdout' | 'stderr', printed: { stdout: string; stderr: string }): () => void {
  const stream = process[name];
  const { write } = stream;
  stream.write = (chunk: string | Uint8Array) => {
    printed[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return true;
  };
  return () => {
    stream.write = write;
  };
}
