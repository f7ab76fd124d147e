import { exitCodes } from './exit-codes.ts';
import { onStdoutClosed } from './print/output.ts';
import { run } from './run.ts';

onStdoutClosed(() => process.exit(exitCodes.ok));
await run(process.argv.slice(2));
