import { expect, test } from 'vitest';
import { invalid, noSuch } from './app-error.ts';

const long = 'x'.repeat(1_000_000);

test('no error repeats much of a request, whatever part of it is long', () => {
  expect(invalid('name', long).message).toHaveLength(1_001);
  expect(noSuch('eSIM', long).message.length).toBeLessThan(100);
  const named = invalid(long, `${long} must be a number.`);
  expect([named.param?.length, named.message.length]).toEqual([61, 61 + ' must be a number.'.length]);
});
