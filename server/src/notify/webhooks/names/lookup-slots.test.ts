import { expect, test, vi } from 'vitest';
import { createLookupSlots } from './lookup-slots.ts';

const options = { perAccount: 4, maxWaiting: 2, maxWaitMs: 1_000 };

test('an account beyond its slots waits for a free one; other accounts do not wait', async () => {
  const slots = createLookupSlots(options);
  const taken = await Promise.all(Array.from({ length: 4 }, () => slots.acquire('a', false)));
  const waiting = slots.acquire('a', false);
  expect(await slots.acquire('b', false)).toBeTypeOf('function');
  taken[0]?.();
  expect(await waiting).toBeTypeOf('function');
});

test('the number of waiting look-ups and their wait are limited', async () => {
  vi.useFakeTimers();
  try {
    const slots = createLookupSlots(options);
    const four = () => Promise.all(Array.from({ length: 4 }, () => slots.acquire('a', false)));
    const taken = await four();
    const waiting = [slots.acquire('a', false), slots.acquire('a', false)];
    expect(await slots.acquire('a', false)).toBeNull();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await Promise.all(waiting)).toEqual([null, null]);
    expect(vi.getTimerCount()).toBe(0);
    // Those that gave up take no slot later.
    for (const release of taken) release?.();
    expect(await four()).not.toContain(null);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('suspect names leave half of the slots to other names', async () => {
  const slots = createLookupSlots(options);
  expect(await slots.acquire('a', true)).toBeTypeOf('function');
  expect(await slots.acquire('a', true)).toBeTypeOf('function');
  expect(await slots.acquire('a', true)).toBeNull();
  expect(await slots.acquire('a', false)).toBeTypeOf('function');
});

test('look-ups that still run count after another one has ended', async () => {
  const slots = createLookupSlots(options);
  const taken = await Promise.all(Array.from({ length: 4 }, () => slots.acquire('a', false)));
  taken[0]?.();
  expect(await slots.acquire('a', true)).toBeNull();
});
