import { createProgram, explain } from './commands/create-program.ts';
import { escapeInLines } from './commands/escape-controls.ts';

createProgram()
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`${escapeInLines(explain(error))}\n`);
    process.exit(1); // a failed start may leave handles open that would keep the process alive
  });
