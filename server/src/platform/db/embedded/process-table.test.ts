import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readFromProc, readFromPs } from './process-table.ts';
import { runCommand } from './run-command.ts';

const readers = process.platform === 'linux' ? [readFromProc, readFromPs] : [readFromPs];

test('a process that has ended is gone, even if its parent has not asked how', async () => {
  // The shell becomes a program that never asks. Its child reads until the test ends the input.
  const script = 'exec 3<&0; cat <&3 >/dev/null & echo $!; exec sleep 600';
  const parent = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [printed] = await once(parent.stdout, 'data');
  const pid = Number(String(printed));
  const look = async (column: string, of: number) =>
    (await runCommand(null, 'ps', ['-o', `${column}=`, '-p', String(of)])).stdout.trim();
  await expect.poll(() => look('args', parent.pid ?? 0)).toBe('sleep 600');
  parent.stdin.end();
  await expect.poll(() => look('stat', pid)).toMatch(/^Z/);
  for (const read of readers) expect(await read(pid)).toBeNull();
});

test.runIf(process.platform === 'linux')('a program is found by its pid, whatever it is called', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-named-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const program = join(folder, 'x) Z 1 (');
  await copyFile('/bin/sleep', program);
  const child = spawn(program, ['600'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  expect(await readFromProc(child.pid ?? 0)).toMatchObject({ pid: child.pid, command: `${program} 600` });
});
