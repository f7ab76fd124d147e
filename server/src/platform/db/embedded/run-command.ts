import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { type SystemUser, spawnOptionsFor } from './system-user.ts';

type CommandResult = { ok: boolean; ending: string; stdout: string; stderr: string };

/** Runs a command as the given user. Never rejects, even if the command cannot be started. */
export function runCommand(
  user: SystemUser | null,
  command: string,
  args: string[],
  { timeoutMs = 30_000, input }: { timeoutMs?: number; input?: string } = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...spawnOptionsFor(user),
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: timeoutMs,
    });
    child.stdin.on('error', () => {}); // it exited before reading all input; its stderr says why
    child.stdin.end(input);
    const stdout = keepTail(child.stdout, 1_000_000);
    const stderr = keepTail(child.stderr);
    child.once('error', (error) =>
      resolve({ ok: false, ending: 'could not be started', stdout: stdout(), stderr: error.message }),
    );
    child.once('close', (code, signal) =>
      resolve({ ok: code === 0, ending: describeEnding(code, signal), stdout: stdout(), stderr: stderr() }),
    );
  });
}

/** Keeps reading a stream, because a full pipe would block its writer, and retains only the end. */
export function keepTail(stream: Readable, limitChars = 4_000): () => string {
  let tail = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    tail = (tail + chunk).slice(-limitChars);
  });
  stream.on('error', () => {});
  return () => tail;
}

export function describeEnding(code: number | null, signal: NodeJS.Signals | null): string {
  return signal ? `was ended by ${signal}` : `ended with code ${code}`;
}
