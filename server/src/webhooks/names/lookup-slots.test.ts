import { expect, test, vi } from 'vitest';
import { createLookupSlots } from './lookup-slots.ts';

const options = { perAccount: 4, mostWaiting: 2, longestWaitMs: 1_000 };

test('an account gets its slots, then waits for one, and another account waits for neither', async () => {
  const slots = createLookupSlots(options);
  const taken = await Promise.all(Array.from({ length: 4 }, () => slots.take('a', false)));
  const waiting = slots.take('a', false);
  expect(await slots.take('b', false)).toBeTypeOf('function');
  taken[0]?.();
  expect(await waiting).toBeTypeOf('function');
});

test('how many wait, and for how long, is bounded', async () => {
  vi.useFakeTimers();
  try {
    const slots = createLookupSlots(options);
    await Promise.all(Array.from({ length: 4 }, () => slots.take('a', false)));
    const waiting = [slots.take('a', false), slots.take('a', false)];
    expect(await slots.take('a', false)).toBeNull();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await Promise.all(waiting)).toEqual([null, null]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('names that hung before leave half of the slots to the others', async () => {
  const slots = createLookupSlots(options);
  expect(await slots.take('a', true)).toBeTypeOf('function');
  expect(await slots.take('a', true)).toBeTypeOf('function');
  expect(await slots.take('a', true)).toBeNull();
  expect(await slots.take('a', false)).toBeTypeOf('function');
});
