import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { keepTail, runCommand } from './run-command.ts';

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
