import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createFullDisk } from './full-disk.ts';

function errorWith(code: string): Error {
  return Object.assign(new pg.DatabaseError('refused', 1, 'error'), { code });
}

const noRoom = errorWith('53100');

/** Returns what changed; `scratch` is what the next scratch files come to. */
function begin(scratch: (Error | null)[]) {
  const changes: boolean[] = [];
  const disk = createFullDisk({
    async writeScratchFile() {
      const outcome = scratch.shift() ?? null;
      if (outcome === null) return;
      disk.notice(outcome); // as the error of any statement
      throw outcome;
    },
    onChange: (isFull) => void changes.push(isFull),
    checkEveryMs: 20,
  });
  return { disk, changes, scratch };
}

test('a disk is full from the first statement that fails for it until a file can be written', async () => {
  const { disk, changes, scratch } = begin([noRoom, new Error('the connection was lost'), noRoom]);
  disk.notice(errorWith('23505'));
  disk.notice(new Error('No space left on device'));
  expect([disk.isFull(), changes]).toEqual([false, []]);
  disk.notice(noRoom);
  disk.notice(noRoom);
  expect([disk.isFull(), changes]).toEqual([true, [true]]);
  await expect.poll(disk.isFull).toBe(false);
  expect([scratch, changes]).toEqual([[], [true, false]]);
  disk.notice(noRoom);
  expect([disk.isFull(), changes]).toEqual([true, [true, false, true]]);
});

test('it stays full while statements fail for it, even if a file can be written', async () => {
  const { disk, changes } = begin([]);
  const endMs = performance.now() + 200;
  while (performance.now() < endMs) {
    disk.notice(noRoom);
    await delay(1);
  }
  expect(changes).toEqual([true]);
  await expect.poll(disk.isFull).toBe(false);
});

test('a scratch file that is refused for another reason does not keep it full', async () => {
  const { disk } = begin([errorWith('53400')]); // temp_file_limit
  disk.notice(noRoom);
  await expect.poll(disk.isFull).toBe(false);
});

test('once stopped, it reports nothing more', async () => {
  const { disk, changes } = begin([]);
  disk.notice(noRoom);
  disk.stop();
  await expect.poll(disk.isFull).toBe(false);
  expect(changes).toEqual([true]);
});
