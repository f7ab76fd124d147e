import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { keepTail } from './run-command.ts';

test('of what a program prints only the end is kept, however much it is', () => {
  const stream = new PassThrough();
  const tail = keepTail(stream, 10);
  for (let line = 0; line < 1_000; line++) stream.write(`line ${line}\n`);
  expect(tail()).toBe('\nline 999\n');
});
