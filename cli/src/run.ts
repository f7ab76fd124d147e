import { CommanderError } from 'commander';
import { exitCodes } from './exit-codes.ts';
import { createProgram } from './program.ts';

/** Runs the command that the arguments name, on this process's streams. Sets its exit code. */
export async function run(args: string[]): Promise<void> {
  const program = createProgram();
  if (args.length === 0) return program.outputHelp();
  await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has already printed the error or the help.
    process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  });
}
