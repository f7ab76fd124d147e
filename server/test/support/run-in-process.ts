import { CommanderError } from 'commander';
import { createProgram, explain } from '../../src/commands/create-program.ts';
import { inThisProcess } from './in-this-process.ts';

type Command = ReturnType<typeof createProgram>;

/**
 * Runs an operator command in this process: a tenth of the CPU of a process of its own, whose start is most of a command. That a command
 * works as a process, prints there and ends by itself is shown by `runCommand` and by the documented commands, which tests paste into a shell.
 */
export function runInProcess(args: string[], env: Record<string, string>) {
  return inThisProcess({ HOST: '127.0.0.1', PORT: '0', SIMPLANE_METRICS_PORT: '0', ...env }, async () => {
    try {
      await throwInsteadOfExit(createProgram()).parseAsync(args, { from: 'user' });
    } catch (error) {
      process.exitCode = endWith(error);
    }
  });
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
