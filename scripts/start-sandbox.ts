import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../server/bin/simplane-server.js', import.meta.url));

/** Starts a sandbox on a free port, with a temporary data folder. */
export async function startSandbox() {
  const dataDir = await mkdtemp(join(tmpdir(), 'simplane-sandbox-'));
  const apiKey = 'sp_test_checks_of_a_sandbox';
  const env = {
    PATH: process.env['PATH'] ?? '',
    PORT: '0',
    SIMPLANE_DATA_DIR: dataDir,
    SIMPLANE_API_KEY: apiKey,
    SIMPLANE_LOG_LEVEL: 'warn',
  };
  const child = spawn(process.execPath, [program, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const [, address] = /is ready at (http:\S+)\n/.exec(output) ?? [];
      if (address) resolve(address);
    });
    ended.then(() => reject(new Error(`the sandbox exited:\n${output}`)), reject);
  });
  return {
    url,
    apiKey,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
