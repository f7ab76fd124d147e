import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const program = fileURLToPath(new URL('../../server/bin/simplane-server.js', import.meta.url));

type Options = {
  /** Environment variables besides the usual ones. */
  env?: Record<string, string>;
  /** A module that the server loads first. It can receive messages from `tell`. */
  preload?: string;
};

/** Starts a sandbox on a free port, with a temporary data folder. */
export async function startSandbox({ env: extra = {}, preload }: Options = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'simplane-sandbox-'));
  const apiKey = 'sp_test_checks_of_a_sandbox';
  const env = {
    PATH: process.env['PATH'] ?? '',
    PORT: '0',
    SIMPLANE_METRICS_PORT: 'off',
    SIMPLANE_DATA_DIR: dataDir,
    SIMPLANE_API_KEY: apiKey,
    SIMPLANE_LOG_LEVEL: 'warn',
    ...extra,
  };
  const flags = preload === undefined ? [] : ['--import', preload];
  const child = spawn(process.execPath, [...flags, program, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit', ...(preload === undefined ? [] : ['ipc' as const])],
  });
  const ended = once(child, 'close');
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      const [, address] = /is ready at (http:\S+)\n/.exec(output) ?? [];
      if (address) resolve(address);
    });
    ended.then(() => reject(new Error(`the sandbox exited:\n${output}`)), reject);
  });
  return {
    url,
    apiKey,
    /** Runs another command of the server on the same data, and returns what it printed. */
    async command(...args: string[]): Promise<string> {
      const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env });
      return stdout;
    },
    /** Sends a message to the preloaded module, and waits until it has answered. */
    async tell(message: number): Promise<void> {
      child.send(message);
      await once(child, 'message');
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
