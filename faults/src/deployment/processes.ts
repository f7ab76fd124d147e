import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { History } from '../history/history.ts';
import { note } from '../history/note.ts';

export type ServerProcess = {
  /** Role and number: `worker-1`. */
  name: string;
  role: Role;
  /** Its base URL; null while it is down. */
  url(): string | null;
  start(): Promise<void>;
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Sets its wall clock, by the difference to the right time. */
  shiftClock(ms: number): void;
  /** Starts another release under this name, sends it the next requests, and ends the one before it. */
  replace(next: Release): Promise<void>;
  /** Sends SIGTERM; it must exit with 0. */
  end(): Promise<void>;
};

type Role = 'api' | 'worker' | 'all';

type Options = { name: string; env: Record<string, string>; preloads: string[]; release: Release };

/** The programs of a release: the server, and the one whose network records. */
export type Release = { server: string; recordedServer: string };

export function bundledRelease(folder: string): Release {
  return {
    server: join(folder, 'simplane-server.mjs'),
    recordedServer: join(folder, 'faults-server.mjs'),
  };
}

const serverFolder = join(dirname(createRequire(import.meta.url).resolve('@simplane/server/serve')), '..');
// The tests bundle the programs, because loading modules one by one takes most of a server's start.
const bundles = process.env['FAULTS_PROGRAMS'];
export const thisRelease: Release = bundles
  ? bundledRelease(bundles)
  : {
      server: join(serverFolder, 'bin/simplane-server.js'),
      recordedServer: fileURLToPath(new URL('./recorded-server.js', import.meta.url)),
    };
const endWithParent = new URL('./end-with-parent.js', import.meta.url).href;
const shiftClock = new URL('./shift-clock.js', import.meta.url).href;
const startTimeoutMs = 240_000;
const stopTimeoutMs = 60_000;

/** A server that can be killed and restarted under one name. An unexpected exit is recorded in the history. */
export function createProcess(history: History, options: Options): ServerProcess {
  const { name, env, preloads } = options;
  const role = name.split('-')[0] as Role;
  let child: ChildProcess | null = null;
  let url: string | null = null;
  let output = '';
  let isFrozen = false;
  let { release } = options;

  function recordUnexpectedExit(how: string): void {
    history.unexpectedExits.push({ process: name, how, lastOutput: output.slice(-2_000) });
    note(history, `${name} exited by itself: ${how}`);
  }

  async function start(): Promise<void> {
    const args = [endWithParent, shiftClock, ...preloads].flatMap((module) => ['--import', module]);
    const command = role === 'api' ? [release.server, 'serve'] : [release.recordedServer];
    const started = spawn(process.execPath, [...args, ...command], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOST: '127.0.0.1',
        PORT: '0',
        SIMPLANE_METRICS_PORT: '0',
        ...env,
        SIMPLANE_ROLE: role,
        FAULTS_PROCESS: name,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child = started;
    output = '';
    children.add(started);
    started.stdin?.on('error', () => {});
    started.once('close', (code, signal) => {
      children.delete(started);
      if (child !== started) return;
      child = null;
      url = null;
      recordUnexpectedExit(String(signal ?? code));
    });
    url = await readUrl(started, (text) => {
      output = (output + text).slice(-20_000);
    });
  }

  /** From now on its exit is expected. */
  function expectExit(): ChildProcess | null {
    const exiting = child;
    child = null;
    url = null;
    isFrozen = false;
    return exiting;
  }

  async function terminate(exiting: ChildProcess): Promise<void> {
    const closed = once(exiting, 'close');
    exiting.kill('SIGTERM');
    const timer = setTimeout(() => exiting.kill('SIGKILL'), stopTimeoutMs);
    const [code, signal] = (await closed) as [number | null, string | null];
    clearTimeout(timer);
    if (code !== 0) recordUnexpectedExit(`${signal ?? code} after SIGTERM`);
  }

  return {
    name,
    role,
    url: () => url,
    start,
    async kill() {
      const exiting = expectExit();
      if (!exiting) return;
      const closed = once(exiting, 'close');
      exiting.kill('SIGKILL');
      await closed;
    },
    freeze() {
      isFrozen = child?.kill('SIGSTOP') ?? false;
    },
    thaw() {
      if (isFrozen) child?.kill('SIGCONT');
      isFrozen = false;
    },
    shiftClock: (ms) => void child?.stdin?.write(`${ms}\n`),
    async replace(next) {
      const [replaced, replacedUrl] = [child, url];
      release = next;
      await start();
      if (!replaced) return;
      // As a load balancer does: it sends nothing more, and what it has sent arrives before the socket closes.
      await fetch(`${replacedUrl}/livez`);
      await terminate(replaced);
    },
    async end() {
      const exiting = expectExit();
      if (exiting) await terminate(exiting);
    },
  };
}

/** Runs an operator command and returns its JSON output. */
export async function runOperatorCommand<T>(
  { server }: Release,
  args: string[],
  env: Record<string, string>,
): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [server, ...args, '--json'], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  return JSON.parse(stdout) as T;
}

const children = new Set<ChildProcess>();

/** Kills every process at once, when there is no time for SIGTERM. */
export function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

async function readUrl(child: ChildProcess, keep: (text: string) => void): Promise<string> {
  let seen = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`a server did not start in time:\n${seen}`)),
      startTimeoutMs,
    );
    const read = (chunk: Buffer) => {
      keep(chunk.toString());
      if (seen.length < 10_000) seen += chunk;
      const [, address] = /is ready at (http:\S+)\n/.exec(seen) ?? [];
      if (!address) return;
      clearTimeout(timer);
      resolve(address);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      reject(new Error(`a server exited (${signal ?? code}) before it was ready:\n${seen}`));
    });
  });
}
