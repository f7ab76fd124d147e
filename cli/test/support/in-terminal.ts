import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { binary } from './run-cli.ts';

// util-linux; other systems' `script` takes other arguments.
export const hasTerminal = process.platform === 'linux' && existsSync('/usr/bin/script');

/** Runs the command in a terminal of its own. */
export function inTerminal(
  args: string,
  { env, columns = 200 }: { env: Record<string, string>; columns?: number },
) {
  const command = `stty cols ${columns}; exec ${process.execPath} ${binary} ${args}`;
  const child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'] ?? '', NO_COLOR: '1', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  return {
    output: () => stdout,
    type: (keys: string) => void child.stdin.write(keys),
    ended: once(child, 'close').then(([code]) => ({ code: code as number, stdout })),
  };
}
