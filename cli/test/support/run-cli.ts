import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { until } from '../../../server/test/support/until.ts';

export const binary = join(inject('programs'), 'simplane.mjs');
export const root = fileURLToPath(new URL('../../../', import.meta.url));

type Target = { url: string; key: string };
type Options = { env?: Record<string, string>; cwd?: string; input?: string };

export type Finished = { code: number | string; stdout: string; stderr: string };

export type Running = {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves when standard output contains the text. */
  shows(text: string | RegExp): Promise<string>;
  /** Closes its standard input. */
  endInput(): void;
  /** Closes the reading end of its standard output. */
  stopReading(): void;
  ended: Promise<Finished>;
  end(signal: NodeJS.Signals): Promise<Finished>;
};

/** Starts the real binary, without inheriting this process's environment. */
export function startCli(args: string[], { env = {}, cwd, input }: Options = {}): Running {
  const child = spawn(process.execPath, [binary, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    cwd: cwd ?? '/',
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.write(input ?? '');
  const read = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => {
    read.stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    read.stderr += chunk;
  });
  const ended = endOf(child).then((code) => ({ code, ...read }));
  return {
    pid: child.pid as number,
    stdout: () => read.stdout,
    stderr: () => read.stderr,
    async shows(text) {
      const seen = await until(
        async () => ({ ...read, hasEnded: child.exitCode !== null || child.signalCode !== null }),
        ({ stdout, hasEnded }) =>
          (typeof text === 'string' ? stdout.includes(text) : text.test(stdout)) || hasEnded,
      );
      if (seen.hasEnded) throw new Error(`it exited before showing ${text}: ${JSON.stringify(seen)}`);
      return seen.stdout;
    },
    endInput: () => void child.stdin?.end(),
    stopReading: () => void child.stdout?.destroy(),
    ended,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs a command against a service until it exits. */
export function runCli(target: Target, args: string[], options: Options = {}): Promise<Finished> {
  return startCli(args, { ...options, env: { ...envOf(target), ...options.env } }).ended;
}

export function envOf({ url, key }: Target): Record<string, string> {
  return { SIMPLANE_BASE_URL: url, SIMPLANE_API_KEY: key };
}

// biome-ignore lint/suspicious/noExplicitAny: the tests assert the JSON's content.
export function jsonLines(text: string): any[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

async function endOf(child: ChildProcess): Promise<number | string> {
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return code ?? (signal as string);
}
