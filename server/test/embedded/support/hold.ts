// Runs as a separate process: starts the embedded database, reports it on one line, keeps it up until stdin says stop.
import { createInterface } from 'node:readline';
import { claimFolder } from '../../../src/platform/db/embedded/ownership.ts';
import {
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../../src/platform/db/embedded/start.ts';

const [task, input] = process.argv.slice(2);
const options = JSON.parse(input ?? '{}') as EmbeddedPostgresOptions;
const report = (answer: unknown) => process.stdout.write(`${JSON.stringify(answer)}\n`);

// Like the service: the first SIGINT begins a shutdown that still needs the database.
process.on('SIGINT', () => report({ interrupted: true }));

try {
  const held = task === 'claim' ? await claimFolder(options.dataDir) : await startEmbeddedPostgres(options);
  const { connectionString, dataDir, notice } = 'stop' in held ? held : {};
  report({ started: { connectionString, dataDir, notice } });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'stop') break;
  }
  if ('stop' in held) await held.stop();
  else await held.release();
  report({ stopped: true });
} catch (error) {
  const { name, message, pid } = error as Error & { pid?: number };
  report({ failed: { name, message, pid } });
}
process.exit(0);
