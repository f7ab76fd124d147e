import { CommanderError } from 'commander';
import { createProgram, explain } from '../../src/commands/create-program.ts';

type Result = { code: number; stdout: string; stderr: string };
type Command = ReturnType<typeof createProgram>;

let isRunning = false;

/**
 * Runs an operator command in this process: a tenth of the CPU of a process of its own, whose start is most of a command. That a command
 * works as a process, prints there and ends by itself is shown by `runCommand` and by the documented commands, which tests paste into a shell.
 */
export async function runInProcess(args: string[], env: Record<string, string>): Promise<Result> {
  if (isRunning) throw new Error('commands share the environment and the output, so they run one by one');
  isRunning = true;
  const { env: ownEnv, exitCode: ownExitCode } = process;
  const printed = [divert(process.stdout), divert(process.stderr)] as const;
  process.env = { PATH: ownEnv['PATH'], HOST: '127.0.0.1', PORT: '0', SIMPLANE_METRICS_PORT: '0', ...env };
  process.exitCode = undefined;
  try {
    await throwInsteadOfExit(createProgram()).parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = endWith(error);
  } finally {
    isRunning = false;
    process.env = ownEnv;
    for (const { restore } of printed) restore();
  }
  const code = Number(process.exitCode ?? 0);
  process.exitCode = ownExitCode;
  return { code, stdout: printed[0].text(), stderr: printed[1].text() };
}

/** The exit code. Commander has printed its errors, and the help. */
function endWith(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode;
  process.stderr.write(`${explain(error)}\n`);
  return 1;
}

function throwInsteadOfExit(command: Command): Command {
  for (const child of command.commands) throwInsteadOfExit(child);
  return command.exitOverride();
}

function divert(stream: NodeJS.WriteStream) {
  const { write } = stream;
  let printed = '';
  stream.write = (chunk: Uint8Array | string, ...more: unknown[]) => {
    printed += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const done = more.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
  const restore = () => {
    stream.write = write;
  };
  return { text: () => printed, restore };
}
