import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAccountTurns } from './account-turns.ts';

const patient = { waiting: 100, waitMs: 600_000 };

/** Runs jobs that end when the test ends them, and notes the order in which they start. */
function startJobs(limits: Parameters<typeof createAccountTurns>[0]) {
  const turns = createAccountTurns(limits);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    run: (account: string, job: string) =>
      turns(account, () => {
        started.push(job);
        return new Promise<string>((resolve) => ends.set(job, () => resolve(job)));
      }),
    /** Ends a job and returns once whatever it made room for has started. */
    async end(job: string) {
      ends.get(job)?.();
      await new Promise(setImmediate);
    },
  };
}

afterEach(() => void vi.useRealTimers());

describe('turns of accounts', () => {
  test('let one account run half, and leave the other half to others', async () => {
    const { started, run, end } = startJobs({ running: 8, ...patient });
    const jobs = Array.from({ length: 24 }, (_, n) => run('a', `a${n}`));
    expect(started).toEqual(['a0', 'a1', 'a2', 'a3']);
    jobs.push(run('b', 'b0'), run('b', 'b1'), run('b', 'b2'), run('c', 'c0'), run('d', 'd0'));
    expect(started.slice(4)).toEqual(['b0', 'b1', 'c0', 'd0']);
    for (const job of started) await end(job);
    expect(await Promise.all(jobs)).toHaveLength(29);
    expect(new Set(started).size).toBe(29);
  });

  test('go round: many requests of one account do not delay the only one of another', async () => {
    const { started, run, end } = startJobs({ running: 1, ...patient });
    const jobs = [
      run('a', 'a0'),
      run('a', 'a1'),
      run('a', 'a2'),
      run('a', 'a3'),
      run('b', 'b0'),
      run('c', 'c0'),
    ];
    for (const job of started) await end(job);
    await Promise.all(jobs);
    expect(started).toEqual(['a0', 'a1', 'b0', 'c0', 'a2', 'a3']);
  });

  test('refuse an account whose queue is full, and no other', async () => {
    const { started, run, end } = startJobs({ running: 1, waiting: 2, waitMs: patient.waitMs });
    const jobs = [run('a', 'a0'), run('a', 'a1'), run('a', 'a2')];
    const refused = run('a', 'a3').catch((error: unknown) => error);
    jobs.push(run('b', 'b0'));
    for (const job of started) await end(job);
    expect(await Promise.all(jobs)).toEqual(['a0', 'a1', 'a2', 'b0']);
    expect(await refused).toMatchObject({ code: 'rate_limited', headers: { 'Retry-After': '1' } });
    const again = run('a', 'again');
    await end('again');
    expect(await again).toBe('again');
  });

  test('pass over an account that has its share, to one that waits behind it', async () => {
    const { started, run, end } = startJobs({ running: 4, ...patient });
    const jobs = ['a0', 'a1', 'a2', 'b0', 'b1', 'c0', 'd0'].map((job) => run(job.charAt(0), job));
    expect(started).toEqual(['a0', 'a1', 'b0', 'c0']);
    await end('c0');
    expect(started.slice(4)).toEqual(['d0']);
    for (const job of started) await end(job);
    await Promise.all(jobs);
  });

  test('start all who may once a slot is free', async () => {
    const { started, run, end } = startJobs({ running: 3, ...patient });
    const jobs = ['a0', 'b0', 'b1', 'a1'].map((job) => run(job.charAt(0), job));
    expect(started).toEqual(['a0', 'b0']);
    await end('a0');
    expect(started.slice(2)).toEqual(['b1', 'a1']);
    for (const job of started) await end(job);
    await Promise.all(jobs);
  });

  test('keep the place of what waits when the time of what has begun is over', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { started, run, end } = startJobs({ running: 1, waiting: 2, waitMs: 1_000 });
    const jobs = [run('a', 'a0'), run('a', 'a1')];
    vi.advanceTimersByTime(500);
    await end('a0');
    jobs.push(run('a', 'a2'));
    vi.advanceTimersByTime(500);
    await end('a1');
    expect(started).toEqual(['a0', 'a1', 'a2']);
    await end('a2');
    await Promise.all(jobs);
  });

  test('refuse what has waited too long, and never start it', async () => {
    const { started, run, end } = startJobs({ running: 1, waiting: 2, waitMs: 20 });
    const first = run('a', 'a0');
    let refusal: unknown;
    run('a', 'late').catch((error: unknown) => {
      refusal = error;
    });
    await expect.poll(() => refusal ?? started.at(-1), { timeout: 60_000 }).not.toBe('a0');
    expect(refusal).toMatchObject({ code: 'rate_limited' });
    await end('a0');
    await first;
    expect(started).toEqual(['a0']);
    const next = run('b', 'b0');
    await end('b0');
    expect(await next).toBe('b0');
  });

  test('free the slot of work that fails', async () => {
    const turns = createAccountTurns({ running: 1, waiting: 1, waitMs: 1_000 });
    await expect(turns('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await turns('b', async () => 'done')).toBe('done');
  });

  test('that rest keep the slot as long again as the work took', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    const { started, run, end } = startJobs({ running: 2, rests: true, ...patient });
    const jobs = [run('a', 'a0'), run('a', 'a1')];
    vi.advanceTimersByTime(50);
    await end('a0');
    jobs.push(run('b', 'b0'));
    vi.advanceTimersByTime(49);
    await end('nothing');
    expect(started).toEqual(['a0', 'b0']);
    vi.advanceTimersByTime(1);
    await end('nothing');
    expect(started).toEqual(['a0', 'b0', 'a1']);
    for (const job of ['b0', 'a1']) await end(job);
    expect(await Promise.all(jobs)).toEqual(['a0', 'a1', 'b0']);
  });

  test('that rest do so for 250 ms at most', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    const { started, run, end } = startJobs({ running: 2, rests: true, ...patient });
    const jobs = [run('a', 'a0'), run('a', 'a1')];
    vi.advanceTimersByTime(10_000);
    await end('a0');
    vi.advanceTimersByTime(250);
    await end('nothing');
    expect(started).toEqual(['a0', 'a1']);
    await end('a1');
    await Promise.all(jobs);
  });
});
