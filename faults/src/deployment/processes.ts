import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { History } from '../history/history.ts';
import { note } from '../history/note.ts';

export type ServerProcess = {
  /** Its role and a number. */
  name: string;
  role: Role;
  /** Where it listens; null while it is down. */
  url(): string | null;
  start(): Promise<void>;
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** SIGTERM, which it must obey with exit code 0. */
  end(): Promise<void>;
};

type Role = 'api' | 'worker' | 'all';

type Options = { name: string; env: Record<string, string>; preload: string | null };

const serverFolder = join(
  dirname(createRequire(import.meta.url).resolve('@simplane/server/embedded-postgres')),
  '../../..',
);
const program = join(serverFolder, 'bin/simplane-server.js');
const recordedServer = fileURLToPath(new URL('./recorded-server.js', import.meta.url));
const endWithParent = new URL('./end-with-parent.js', import.meta.url).href;
const readyWithinMs = 60_000;
const stoppedWithinMs = 60_000;

/** One server, which is started, killed and started again under one name. An end that nobody asked for is recorded. */
export function createProcess(history: History, { name, env, preload }: Options): ServerProcess {
  const role = name.split('-')[0] as Role;
  let child: ChildProcess | null = null;
  let url: string | null = null;
  let output = '';
  let isFrozen = false;

  function recordOddEnding(how: string): void {
    history.oddEndings.push({ process: name, how, lastWords: output.slice(-2_000) });
    note(history, `${name} ended by itself: ${how}`);
  }

  async function start(): Promise<void> {
    const args = ['--import', endWithParent, ...(preload ? ['--import', preload] : [])];
    const what = role === 'api' ? [program, 'serve'] : [recordedServer];
    const started = spawn(process.execPath, [...args, ...what], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOST: '127.0.0.1',
        PORT: '0',
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
      recordOddEnding(String(signal ?? code));
    });
    url = await readUrl(started, (text) => {
      output = (output + text).slice(-20_000);
    });
  }

  /** From here on its end is expected. */
  function letGo(): ChildProcess | null {
    const leaving = child;
    child = null;
    url = null;
    isFrozen = false;
    return leaving;
  }

  return {
    name,
    role,
    url: () => url,
    start,
    async kill() {
      const leaving = letGo();
      if (!leaving) return;
      const closed = once(leaving, 'close');
      leaving.kill('SIGKILL');
      await closed;
    },
    freeze() {
      isFrozen = child?.kill('SIGSTOP') ?? false;
    },
    thaw() {
      if (isFrozen) child?.kill('SIGCONT');
      isFrozen = false;
    },
    async end() {
      const leaving = letGo();
      if (!leaving) return;
      const closed = once(leaving, 'close');
      leaving.kill('SIGTERM');
      const late = setTimeout(() => leaving.kill('SIGKILL'), stoppedWithinMs);
      const [code, signal] = (await closed) as [number | null, string | null];
      clearTimeout(late);
      if (code !== 0) recordOddEnding(`${signal ?? code} when it was asked to stop`);
    },
  };
}

/** Runs a command of the operator on a database, and returns what it prints as JSON. */
export async function operate<T>(args: string[], env: Record<string, string>): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args, '--json'], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  return JSON.parse(stdout) as T;
}

const children = new Set<ChildProcess>();

/** The last resort, when there is no time to ask. */
export function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

async function readUrl(child: ChildProcess, keep: (text: string) => void): Promise<string> {
  let seen = '';
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`a server did not start in time:\n${seen}`)),
      readyWithinMs,
    );
    const read = (chunk: Buffer) => {
      keep(chunk.toString());
      if (seen.length < 10_000) seen += chunk;
      const [, address] = /is ready at (http:\S+)\n/.exec(seen) ?? [];
      if (!address) return;
      clearTimeout(late);
      resolve(address);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('close', (code, signal) => {
      clearTimeout(late);
      reject(new Error(`a server ended (${signal ?? code}) before it was ready:\n${seen}`));
    });
  });
}
