import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createGroupCommit } from './group-commit.ts';
import { DatabaseUnavailable } from './unavailable.ts';

/** Statements that run until the test completes them. */
function heldStatements() {
  const batches: { items: number[]; commit(): void; fail(error: Error): void }[] = [];
  const write = (items: number[]) =>
    new Promise<number[]>((resolve, reject) => {
      batches.push({ items, commit: () => resolve(items.map((item) => item * 10)), fail: reject });
    });
  return { batches, write };
}

function refusal(code: string): Error {
  return Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code });
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('a group commit', () => {
  test('writes items of one turn together, and later items with the next statement', async () => {
    const { batches, write } = heldStatements();
    const commit = createGroupCommit({ write, mostInFlight: 1 });
    const first = [commit(1), commit(2)];
    await nextTurn();
    const later = [commit(3), commit(4), commit(5)];
    await nextTurn();
    expect(batches.map(({ items }) => items)).toEqual([[1, 2]]);
    batches[0]?.commit();
    expect(await Promise.all(first)).toEqual([10, 20]);
    await nextTurn();
    expect(batches.map(({ items }) => items)).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    batches[1]?.commit();
    expect(await Promise.all(later)).toEqual([30, 40, 50]);
  });

  test.each([
    [1, [[256], [256], [256], [32]]],
    [2, [[256, 256], [256, 256], [256, 32], [32]]],
  ])('has at most %i statements in flight, with 256 items each', async (mostInFlight, expected) => {
    const { batches, write } = heldStatements();
    const commit = createGroupCommit({ write, mostInFlight });
    const all = Array.from({ length: 800 }, (_, n) => commit(n));
    for (const lengths of expected) {
      await nextTurn();
      expect(batches.map(({ items }) => items.length)).toEqual(lengths);
      batches.shift()?.commit();
    }
    expect(await Promise.all(all)).toEqual(Array.from({ length: 800 }, (_, n) => n * 10));
  });

  test('an item for which the statement has no result is rejected', async () => {
    const commit = createGroupCommit<number, number>({ write: async () => [] });
    await expect(commit(1)).rejects.toThrow('wrong number');
  });

  test('rejects waiting items at once if the database is unavailable', async () => {
    const { batches, write } = heldStatements();
    const commit = createGroupCommit({ write, mostInFlight: 1 });
    const first = commit(1);
    await nextTurn();
    const waiting = [commit(2), commit(3)];
    const failures = Promise.allSettled([first, ...waiting]);
    const error = new DatabaseUnavailable('no server accepts writes');
    batches[0]?.fail(error);
    expect(await failures).toEqual(Array(3).fill({ status: 'rejected', reason: error }));
    expect(batches).toHaveLength(1);
  });

  test('starts a second statement when 16 items wait', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] }); // on a busy machine the first statement would count as stuck
    onTestFinished(() => void vi.useRealTimers());
    const { batches, write } = heldStatements();
    const commit = createGroupCommit({ write });
    const all = [commit(0)];
    for (let n = 1; n <= 16; n++) {
      await nextTurn();
      expect(batches).toHaveLength(1);
      all.push(commit(n));
    }
    await nextTurn();
    expect(batches.map(({ items }) => items.length)).toEqual([1, 16]);
    for (const { commit: end } of batches) end();
    expect(await Promise.all(all)).toHaveLength(17);
  });

  test('starts one more statement if one is stuck, unless only one may be in flight', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { batches, write } = heldStatements();
    const [double, single] = [createGroupCommit({ write }), createGroupCommit({ write, mostInFlight: 1 })];
    const stuck = [double(1), single(1)];
    await nextTurn();
    const others = [double(2), single(3)];
    await nextTurn();
    expect(batches.map(({ items }) => items)).toEqual([[1], [1]]);
    await vi.advanceTimersByTimeAsync(100);
    expect(batches.map(({ items }) => items)).toEqual([[1], [1], [2]]);
    others.push(double(4));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(batches).toHaveLength(3);
    for (let n = 0; n < 5; n++) {
      batches[n]?.commit();
      await nextTurn();
    }
    expect(await Promise.all([...stuck, ...others])).toEqual([10, 10, 20, 30, 40]);
  });

  test.each(['22021', '23505', '40P01'])(
    'after error %s each item is written by itself, and only the bad one fails',
    async (code) => {
      const written: number[][] = [];
      const commit = createGroupCommit({
        async write(items: number[]) {
          written.push(items);
          if (items.includes(2)) throw refusal(code);
          return items;
        },
      });
      const results = await Promise.allSettled([1, 2, 3].map((item) => commit(item)));
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(written).toEqual([[1, 2, 3], [1], [2], [3]]);
    },
  );

  test.each([
    ['a lost connection', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
    ['a query timeout', new Error('Query read timeout')],
    ['a server shutdown', refusal('57P01')],
  ])('after %s nothing is written again, because it may have been committed', async (_, error) => {
    const written: number[][] = [];
    const commit = createGroupCommit({
      async write(items: number[]): Promise<number[]> {
        written.push(items);
        throw error;
      },
    });
    const results = await Promise.allSettled([1, 2].map((item) => commit(item)));
    expect(results.map((result) => result.status === 'rejected' && result.reason)).toEqual([error, error]);
    expect(written).toEqual([[1, 2]]);
  });

  describe('that collects', () => {
    const collecting = () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      onTestFinished(() => void vi.useRealTimers());
      const { batches, write } = heldStatements();
      const commit = createGroupCommit({ write, collectMs: 50, isUrgent: (item: number) => item < 0 });
      const written = () => batches.map(({ items }) => items);
      return { batches, commit, written };
    };

    test('writes a lone item at once, and the next ones together when its time is over', async () => {
      const { batches, commit, written } = collecting();
      const first = commit(1);
      await nextTurn();
      batches[0]?.commit();
      await first;
      const later = [commit(2)];
      vi.advanceTimersByTime(49);
      later.push(commit(3));
      await nextTurn();
      expect(written()).toEqual([[1]]);
      vi.advanceTimersByTime(1);
      expect(written()).toEqual([[1], [2, 3]]);
      batches[1]?.commit();
      expect(await Promise.all(later)).toEqual([20, 30]);
    });

    test.each([
      ['that is urgent', [-2]],
      ['when 16 wait', Array.from({ length: 16 }, (_, n) => n + 2)],
    ])('does not wait with an item %s', async (_, items) => {
      const { batches, commit, written } = collecting();
      const first = commit(1);
      await nextTurn();
      batches[0]?.commit();
      await first;
      await nextTurn();
      const later = items.map(commit);
      await nextTurn();
      expect(written()).toEqual([[1], items]);
      batches[1]?.commit();
      await Promise.all(later);
    });
  });
});
