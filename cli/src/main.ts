import { CommanderError } from 'commander';
import { exitCodes } from './exit-codes.ts';
import { onReaderGone } from './print/output.ts';
import { createProgram } from './program.ts';

onReaderGone(() => process.exit(exitCodes.ok));

const program = createProgram();
if (process.argv.length <= 2) program.outputHelp();
else {
  await program.parseAsync().catch((error: unknown) => {
    if (!(error instanceof CommanderError)) throw error;
    // The parser has said what is wrong, or shown what was asked for.
    process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  });
}
