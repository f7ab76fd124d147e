import fs from 'node:fs';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { createLog, logPlain } from './log.ts';

function logTo(lines: string[], level = 'info') {
  return createLog(level, { write: (line) => void lines.push(line) });
}

const withoutTime = (line: string | undefined) => line?.replace(/"time":"[^"]+"/, '"time":"T"');

test('a plain line is the same as the one that pino writes', () => {
  const word = fc.stringMatching(/^[a-z0-9_.*/]{0,40}$/);
  const value = fc.oneof(
    word,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constant(undefined),
  );
  const fields = fc.dictionary(fc.stringMatching(/^[a-z_]{1,20}$/), value);
  fc.assert(
    fc.property(fields, fc.stringMatching(/^[a-z ]{1,20}$/), (given, message) => {
      const lines: string[] = [];
      const log = logTo(lines);
      log.info(given, message);
      logPlain(log, given, message);
      expect(withoutTime(lines[1])).toBe(withoutTime(lines[0]));
    }),
  );
});

test('a plain line has the time, and its level decides whether it is written', () => {
  const lines: string[] = [];
  logPlain(logTo(lines), { status: 200 }, 'request');
  logPlain(logTo(lines, 'warn'), { status: 200 }, 'request');
  expect(lines).toHaveLength(1);
  const { time, ...rest } = JSON.parse(lines[0] ?? '') as { time: string };
  expect(rest).toEqual({ level: 'info', status: 200, msg: 'request' });
  expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(60_000);
});

test('what a process logs in the turn in which it exits is written', () => {
  const written: unknown[] = [];
  const write = vi
    .spyOn(fs, 'writeSync')
    .mockImplementation((_, text) => written.push(text) && String(text).length);
  const before = process.listeners('exit');
  try {
    createLog('info').error('last words');
    expect(written).toEqual([]);
    const added = process.listeners('exit').filter((listener) => !before.includes(listener));
    for (const listener of added) {
      process.removeListener('exit', listener);
      listener(1);
    }
    expect(written).toEqual([expect.stringContaining('last words')]);
  } finally {
    write.mockRestore();
  }
});
