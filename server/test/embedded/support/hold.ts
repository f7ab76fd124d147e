// Runs as a separate process: starts the embedded database, reports it on one line, keeps it up until stdin says stop. Or claims each
// folder that stdin names, and reports that.
import { createInterface } from 'node:readline';
import { claimFolder } from '../../../src/platform/db/embedded/ownership.ts';
import {
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../../src/platform/db/embedded/start.ts';

const [task, given] = process.argv.slice(2);
const options = JSON.parse(given ?? '{}') as EmbeddedPostgresOptions;
const report = (answer: unknown) => process.stdout.write(`${JSON.stringify(answer)}\n`);

// Like the service: the first SIGINT begins a shutdown that still needs the database.
process.on('SIGINT', () => report({ interrupted: true }));

const fail = (error: unknown) => {
  const { name, message, pid } = error as Error & { pid?: number };
  report({ failed: { name, message, pid } });
};
const input = createInterface({ input: process.stdin });

if (task === 'claim') {
  for await (const folder of input) await claimFolder(folder).then(() => report({ claimed: folder }), fail);
} else await startAndHold().catch(fail);
process.exit(0);

async function startAndHold(): Promise<void> {
  const held = await startEmbeddedPostgres(options);
  const { connectionString, dataDir, notice } = held;
  report({ started: { connectionString, dataDir, notice } });
  for await (const line of input) {
    if (line === 'stop') break;
  }
  await held.stop();
  report({ stopped: true });
}
