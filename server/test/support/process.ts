import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';

const bundles = inject('programs');
const program = join(bundles, 'simplane-server.mjs');
const installed = fileURLToPath(new URL('../../bin/simplane-server.js', import.meta.url));
const es2Server = join(bundles, 'es2-server.mjs');
const recordedServer = join(bundles, 'recorded-server.mjs');
const cleanEnv = {
  PATH: process.env['PATH'] ?? '',
  HOST: '127.0.0.1',
  PORT: '0',
  SIMPLANE_METRICS_PORT: '0',
};

export type ServerProcess = {
  /** As it prints it: the public one, if the settings name one. */
  url: string;
  pid: number;
  /** What `/metrics` serves, on the port that the log names. */
  metrics(): Promise<string>;
  /** Everything printed so far: the greeting and the log. */
  output(): string;
  /** The exit code, or the name of the signal that killed it. */
  ended: Promise<number | string>;
  /** Sends the signal and waits for `ended`. */
  end(signal: NodeJS.Signals): Promise<number | string>;
};

type Options = { uid?: number; gid?: number; preload?: string; cwd?: string };

/**
 * Starts the real server, by default this release's. Resolves when it reports ready; rejects with its output if it exits first.
 */
export async function spawnServer(
  env: Record<string, string>,
  options: Options & { isBundled?: boolean; programs?: string; file?: string } = {},
): Promise<ServerProcess> {
  const { preload, isBundled = true, programs = bundles, file, ...spawnOptions } = options;
  const bundled = join(programs, 'simplane-server.mjs');
  const args = [...importing(preload), file ?? (isBundled ? bundled : installed), 'serve'];
  return waitUntilReady(
    spawn(process.execPath, args, { ...streams, env: { ...cleanEnv, ...env }, ...spawnOptions }),
  );
}

/** The same server with the recording network at `RECORDER_URL`; `DIE_AT` names the moment it kills itself. */
export function spawnRecordedServer(env: Record<string, string>): Promise<ServerProcess> {
  return waitUntilReady(
    spawn(process.execPath, [recordedServer], { ...streams, env: { ...cleanEnv, ...env } }),
  );
}

/** A live server with the real ES2+ driver. `ES2_ICCIDS` says who supplies ICCIDs; `DIE_AT` as above. */
export function spawnEs2Server(env: Record<string, string>): Promise<ServerProcess> {
  return waitUntilReady(spawn(process.execPath, [es2Server], { ...streams, env: { ...cleanEnv, ...env } }));
}

const streams = { stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] };

async function waitUntilReady(child: ChildProcess): Promise<ServerProcess> {
  let output = '';
  const ended = exitOf(child);
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      const [, address] = /is ready at (https?:\S+)\n/.exec(output) ?? [];
      if (address) resolve(address);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    ended.then((how) => reject(new Error(`the server ended (${how}):\n${output}`)), reject);
  });
  return {
    url,
    pid: child.pid as number,
    async metrics() {
      const [, host, port] = /"host":"(\S+)","port":(\d+),"msg":"serving .metrics"/.exec(output) ?? [];
      return (await fetch(`http://${host}:${port}/metrics`)).text();
    },
    output: () => output,
    ended,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs an operator command to completion. */
export async function runCommand(
  args: string[],
  env: Record<string, string>,
  { preload, ...options }: Options = {},
) {
  const run = promisify(execFile)(process.execPath, [...importing(preload), program, ...args], {
    env: { ...cleanEnv, ...env },
    ...options,
  });
  const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
  return { code: run.child.exitCode, stdout, stderr };
}

function importing(preload: string | undefined): string[] {
  return preload ? ['--import', preload] : [];
}

async function exitOf(child: ChildProcess): Promise<number | string> {
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return code ?? (signal as string);
}
