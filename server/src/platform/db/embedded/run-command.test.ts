import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { keepTail, runCommand } from './run-command.ts';
import { currentUser, spawnOptionsFor } from './system-user.ts';

test('of what a program prints only the end is kept, however much it is', () => {
  const stream = new PassThrough();
  const tail = keepTail(stream, 10);
  for (let line = 0; line < 1_000; line++) stream.write(`line ${line}\n`);
  expect(tail()).toBe('\nline 999\n');
});

test('a program that does not end is ended, so that a start never waits for it for ever', async () => {
  const args = ['-e', 'setTimeout(() => {}, 10_000)'];
  const result = await runCommand(null, process.execPath, args, { timeoutMs: 100 });
  expect(result).toMatchObject({ ok: false, ending: 'was ended by SIGTERM' });
});

test('a program that cannot be started is told like one that fails', async () => {
  expect(await runCommand(null, '/nowhere/a-program', [])).toMatchObject({
    ...{ ok: false, ending: 'could not be started', stdout: '' },
    stderr: expect.stringContaining('ENOENT'),
  });
});

test('a program gets its input and then the end of it, and may end without reading it', async () => {
  expect(await runCommand(null, 'cat', [], { input: 'a line' })).toMatchObject({
    ok: true,
    stdout: 'a line',
  });
  expect(await runCommand(null, 'cat', [])).toMatchObject({ ok: true, stdout: '' });
  expect(await runCommand(null, 'true', [], { input: 'x'.repeat(1_000_000) })).toMatchObject({ ok: true });
});

test('the environment of the caller does not reach the programs', async () => {
  vi.stubEnv('PGDATA', '/somewhere');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { stdout } = await runCommand(null, 'env', []);
  expect(
    stdout
      .trim()
      .split('\n')
      .filter((line) => !/^(PWD|SHLVL|_)=/.test(line))
      .sort(),
  ).toEqual(['LC_ALL=C', 'PATH=/usr/bin:/bin:/usr/sbin:/sbin']);
  expect((await runCommand(null, 'pwd', [])).stdout).toBe('/\n');
});

test('a program runs as the given user, whose number may be written as a negative one', () => {
  const user = { uid: 2 ** 32 - 2, gid: 2 ** 32 - 2, name: 'nobody', isNamed: true };
  expect(spawnOptionsFor(user)).toMatchObject({ uid: -2, gid: -2 });
  expect(spawnOptionsFor(currentUser())).not.toHaveProperty('uid');
});
