import { expect, test } from 'vitest';
import type { Database } from '../platform/db/database.ts';
import { createKeyDirectory, type KnownKey } from './key-directory.ts';

const hash = 'ab';

/** A directory on a database whose look-ups the test answers, and a clock that it moves. */
function start() {
  let nowMs = 0;
  const lookUps: ((rows: object[]) => void)[] = [];
  const db = { query: () => new Promise((resolve) => lookUps.push(resolve)) } as unknown as Database;
  const rowOf = (revoked: boolean) => ({
    ...{ hash, id: '00000000-0000-7000-8000-000000000001', name: '', scopes: [], last4: '', account: null },
    ...{ created_at: new Date(0), expires_at: null, allowed_cidrs: [] },
    revoked_at: revoked ? new Date(0) : null,
  });
  const asked = (count: number) =>
    expect.poll(() => lookUps.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
  return {
    keys: createKeyDirectory(db, () => nowMs),
    /** Waits until so many look-ups have been made. */
    asked,
    advance(ms: number) {
      nowMs += ms;
    },
    async answer(n: number, isRevoked: boolean) {
      await asked(n + 1);
      lookUps[n]?.([rowOf(isRevoked)]);
    },
  };
}

test('a late answer to an earlier look-up does not bring back a key that was revoked since', async () => {
  const { keys, advance, asked, answer } = start();
  const first = keys.lookUp(hash);
  await answer(0, false);
  expect(await first).toMatchObject({ revoked: false });
  advance(2_500);
  const slow = keys.recall(hash);
  await asked(2);
  advance(2_500);
  const quick = keys.recall(hash);
  await answer(2, true);
  expect(await quick).toMatchObject({ revoked: true });
  await answer(1, false);
  await slow;
  expect((keys.recall(hash) as KnownKey).revoked).toBe(true);
});

test('a look-up of an unknown key that hangs is made again', async () => {
  const { keys, advance } = start();
  keys.lookUp(hash).catch(() => {});
  expect(keys.recall(hash)).toBeInstanceOf(Promise);
  advance(2_500);
  expect(keys.recall(hash)).toBeUndefined();
});

/** A directory that notes uses, and what its statements stored; the first of them waits for the test if it asks for that. */
function noting(isFirstHeld: boolean) {
  const stored: unknown[][] = [];
  const first = { fail: () => {} };
  const db = {
    query(_statement: object, values: unknown[]) {
      stored.push(values);
      if (!isFirstHeld || stored.length > 1) return [];
      return new Promise((_, reject) => {
        first.fail = () => reject(new Error('away'));
      });
    },
  } as unknown as Database;
  const { noteUse, flushUses } = createKeyDirectory(db);
  const note = (key: number, atMs: number) =>
    noteUse({ apiKey: { uuid: String(key).repeat(32) } } as KnownKey, atMs);
  return { note, flushUses, stored, first };
}

test('uses that could not be stored do not replace later ones', async () => {
  const [{ note, flushUses, stored, first }, expected] = [noting(true), noting(false)];
  note(1, 1_000);
  note(2, 2_000);
  const flushing = flushUses();
  note(1, 9_000);
  first.fail();
  await expect(flushing).rejects.toThrow('away');
  await flushUses();
  expected.note(1, 9_000);
  expected.note(2, 2_000);
  await expected.flushUses();
  expect(stored[1]).toEqual(expected.stored[0]);
});

test('without uses, nothing is stored', async () => {
  const { note, flushUses, stored } = noting(false);
  note(1, 1_000);
  for (let time = 0; time < 3; time++) await flushUses();
  expect(stored).toHaveLength(1);
});

test('of too many unknown keys, the one that was looked up longest ago is forgotten', async () => {
  const db = { query: async () => [] } as unknown as Database;
  const keys = createKeyDirectory(db, () => 0);
  const nameOf = (n: number) => `unknown ${n}`;
  await Promise.all(Array.from({ length: 10_000 }, (_, n) => keys.lookUp(nameOf(n))));
  await keys.lookUp(nameOf(0));
  await keys.lookUp(nameOf(10_000));
  expect([0, 1, 2, 10_000].map((n) => keys.recall(nameOf(n)))).toEqual([null, undefined, null, null]);
});
