import { expect, test } from 'vitest';
import { createStreamLimits } from './stream-limits.ts';

const refused = expect.objectContaining({ code: 'stream_limit_reached', headers: { 'Retry-After': '5' } });

test('one account has at most a tenth of all streams, whatever its number of keys', () => {
  const limits = createStreamLimits({ perKey: 20, total: 1_000 });
  const openWith = (key: number, account = 'a') => limits.open({ keyUuid: `${account}-${key}`, account });
  const closes = Array.from({ length: 100 }, (_, index) => openWith(Math.floor(index / 20)));
  expect(() => openWith(99)).toThrow(refused);
  openWith(1, 'b');
  closes[0]?.();
  closes[0]?.();
  openWith(99);
  expect(() => openWith(99)).toThrow(refused);
});

test('a small deployment has at least one stream per account', () => {
  const limits = createStreamLimits({ perKey: 20, total: 5 });
  for (const account of ['a', 'b', 'c', 'd', 'e']) limits.open({ keyUuid: account, account });
  expect(() => limits.open({ keyUuid: 'a2', account: 'a' })).toThrow(refused);
  expect(() => limits.open({ keyUuid: 'f', account: 'f' })).toThrow(refused);
});

test('one key has at most its own limit', () => {
  const limits = createStreamLimits({ perKey: 2, total: 1_000 });
  const open = (keyUuid: string) => limits.open({ keyUuid, account: 'a' });
  const close = open('k');
  open('k');
  expect(() => open('k')).toThrow(refused);
  open('other');
  close();
  open('k');
});
