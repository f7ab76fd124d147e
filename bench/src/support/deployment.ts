import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startEmbeddedPostgres } from '@simplane/server/embedded-postgres';

export type Deployment = { url: string; key: string; databaseUrl: string; stop(): Promise<void> };

const key = 'sp_test_bench';

/** A fresh PostgreSQL with durable commits and one server process on it, on loopback. */
export async function startDeployment(settings: Record<string, string> = {}): Promise<Deployment> {
  const dataDir = await mkdtemp(join(tmpdir(), 'simplane-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  // Not PostgreSQL's folder: that belongs to whom it runs as.
  const serverDir = await mkdtemp(join(tmpdir(), 'simplane-bench-'));
  const folder = dirname(createRequire(import.meta.url).resolve('@simplane/server/embedded-postgres'));
  const server = spawn(process.execPath, [join(folder, '../../../bin/simplane-server.js'), 'serve'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      DATABASE_URL: postgres.connectionString,
      SIMPLANE_API_KEY: key,
      SIMPLANE_DATA_DIR: serverDir,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    server.stdout.on('data', (chunk) => {
      if (output.includes('is ready at')) return;
      output += chunk;
      const [, address] = /is ready at (http:\S+)\n/.exec(output) ?? [];
      if (address) resolve(address);
    });
    server.once('close', (code) => reject(new Error(`the server ended with ${code}:\n${output}`)));
  });
  return {
    url,
    key,
    databaseUrl: postgres.connectionString,
    async stop() {
      server.kill('SIGTERM');
      await once(server, 'close');
      await postgres.stop();
      for (const dir of [dataDir, serverDir]) await rm(dir, { recursive: true, force: true });
    },
  };
}
