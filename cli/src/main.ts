import { CommanderError } from 'commander';
import { exitCodes } from './exit-codes.ts';
import { onStdoutClosed } from './print/output.ts';
import { createProgram } from './program.ts';

onStdoutClosed(() => process.exit(exitCodes.ok));

const program = createProgram();
if (process.argv.length <= 2) program.outputHelp();
else {
  await program.parseAsync().catch((error: unknown) => {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has already printed the error or the help.
    process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  });
}
