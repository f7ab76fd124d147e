import { expect, test } from 'vitest';
import { createUnknownKeyLimit, networkOf } from './unknown-key-limit.ts';

test('each address gets its own burst, then its rate per second', () => {
  let nowMs = 0;
  const limit = createUnknownKeyLimit(2, { monotonicMs: () => nowMs });
  const taken = (address: string) => {
    for (let count = 0; ; count++) {
      try {
        limit.take(address);
      } catch {
        return count;
      }
    }
  };
  expect(taken('192.0.2.1')).toBe(10);
  expect(taken('192.0.2.2')).toBe(10);
  nowMs += 1_000;
  expect(taken('192.0.2.1')).toBe(2);
  limit.refund('192.0.2.1');
  expect(taken('192.0.2.1')).toBe(1);
  nowMs += 3_600_000;
  expect(taken('192.0.2.1')).toBe(10);
});

test('a refusal says what was guessed, at which rate, and when to retry', () => {
  const limit = createUnknownKeyLimit(2, { of: 'sign-in links', monotonicMs: () => 0 });
  for (let n = 0; n < 10; n++) limit.take('192.0.2.1');
  expect(() => limit.take('192.0.2.1')).toThrow(
    expect.objectContaining({
      message: expect.stringContaining('too many unknown sign-in links; the limit is 2 per second'),
      headers: {
        'RateLimit-Policy': '"address";q=10;w=5',
        RateLimit: '"address";r=0;t=1',
        'Retry-After': '1',
      },
    }),
  );
});

test('0 is off', () => {
  const limit = createUnknownKeyLimit(0);
  for (let i = 0; i < 1_000; i++) limit.take('192.0.2.1');
});

test('only a bounded number of addresses is remembered', () => {
  const limit = createUnknownKeyLimit(1, { monotonicMs: () => 0 });
  for (let i = 0; i < 5; i++) limit.take('192.0.2.1');
  for (let i = 0; i < 10_000; i++) limit.take(`10.0.${i >> 8}.${i & 255}`);
  limit.take('192.0.2.1'); // forgotten, so its bucket is full again
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::9', '2001:db8:1:2'],
  ['2001:0db8:0001:0002::9', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:db8::1:0:0:0:1', '2001:db8:0:1'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
