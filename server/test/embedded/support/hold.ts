// Run as a process of its own: starts the embedded database, says so on one line, holds it until told to stop.
import { createInterface } from 'node:readline';
import { claimFolder } from '../../../src/db/embedded/ownership.ts';
import { type EmbeddedPostgresOptions, startEmbeddedPostgres } from '../../../src/db/embedded/start.ts';

const [task, input] = process.argv.slice(2);
const options = JSON.parse(input ?? '{}') as EmbeddedPostgresOptions;
const say = (answer: unknown) => process.stdout.write(`${JSON.stringify(answer)}\n`);

// As a service would: the first SIGINT begins a shutdown that still needs the database.
process.on('SIGINT', () => say({ interrupted: true }));

try {
  const held = task === 'claim' ? await claimFolder(options.dataDir) : await startEmbeddedPostgres(options);
  const { connectionString, dataDir, notice } = 'stop' in held ? held : {};
  say({ started: { connectionString, dataDir, notice } });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'stop') break;
  }
  if ('stop' in held) await held.stop();
  else await held.release();
  say({ stopped: true });
} catch (error) {
  const { name, message, pid } = error as Error & { pid?: number };
  say({ failed: { name, message, pid } });
}
process.exit(0);
