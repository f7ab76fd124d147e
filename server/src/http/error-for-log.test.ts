import { expect, test } from 'vitest';
import { errorForLog } from './error-for-log.ts';

test('the message of an error is logged up to 500 characters, without what looks like a key', () => {
  const { message } = errorForLog(`Wrong: ${'x '.repeat(5_000)}`, undefined);
  expect(message.length).toBeLessThanOrEqual(501); // and a mark that it was cut
  const key = `sp_test_${'a'.repeat(38)}`;
  expect(errorForLog(`No product ${key}.`, undefined).message).not.toContain(key);
});

test('a name that a client made up is hidden, also if it is only too long', () => {
  expect(errorForLog('metadata.order_id is wrong.', 'metadata.order_id').param).toBe('metadata.order_id');
  const long = 'a'.repeat(41);
  expect(errorForLog(`${long} is wrong.`, long)).toEqual({ message: '* is wrong.', param: '*' });
});
