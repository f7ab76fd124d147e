import { expect, test } from 'vitest';
import type { Topic } from '../platform/db/signals.ts';
import { unlessQuiet } from './unless-quiet.ts';

/** A chore that hears of the feed and of executions, and how often its work was done. */
function start(work: () => Promise<void> = async () => {}) {
  const listeners = new Map<Topic, () => void>();
  let done = 0;
  const signals = {
    on(topic: Topic, listener: (subject: string | undefined) => void) {
      listeners.set(topic, () => listener(undefined));
      return () => void listeners.delete(topic);
    },
  };
  const chore = unlessQuiet({ signals }, ['feed', 'executions'], async () => {
    done += 1;
    await work();
  });
  const run = async (times: number) => {
    const before = done;
    for (let n = 0; n < times; n++) await chore.run(new AbortController().signal);
    return done - before;
  };
  return { run, listeners, end: chore.end };
}

test('the first run works, and of ten after it without a signal only the last', async () => {
  const { run } = start();
  expect(await run(1)).toBe(1);
  expect(await run(9)).toBe(0);
  expect(await run(1)).toBe(1);
  expect(await run(9)).toBe(0);
});

test.each<Topic>(['feed', 'executions'])('after a signal on %s, one run works', async (topic) => {
  const { run, listeners } = start();
  await run(1);
  listeners.get(topic)?.();
  listeners.get(topic)?.();
  expect(await run(3)).toBe(1);
});

test('what is signaled during a run is work for the next', async () => {
  const { run, listeners } = start(async () => listeners.get('feed')?.());
  expect(await run(5)).toBe(5);
});

test('a run that failed is repeated', async () => {
  let fails = true;
  const { run } = start(async () => {
    if (fails) throw new Error('no database');
  });
  await expect(run(1)).rejects.toThrow('no database');
  fails = false;
  expect(await run(5)).toBe(1);
});

test('an ended one listens to nothing', () => {
  const { listeners, end } = start();
  end();
  expect(listeners.size).toBe(0);
});
