import { expect, test } from 'vitest';
import { errorForLog } from './error-for-log.ts';

test('the message of an error is logged up to 500 characters, without what looks like a key', () => {
  const { message } = errorForLog(`Wrong: ${'x '.repeat(5_000)}`, undefined);
  expect(message.length).toBeLessThanOrEqual(501); // and a mark that it was cut
  const key = `sp_test_${'a'.repeat(38)}`;
  expect(errorForLog(`No product ${key}.`, undefined).message).not.toContain(key);
});

test.each([
  ['Idempotency-Key', true],
  ['productId', true],
  ['data[12].order-id', true],
  ['a'.repeat(40), true],
  ['metadata.Order', true],
  ['metadata.ORDER', false],
  ['metadata.ünï', false],
  ['data[1234567]', false],
])('the name %s is logged: %s', (name, isLogged) => {
  const logged = isLogged ? name : '*';
  expect(errorForLog(`${name} is wrong.`, name)).toEqual({ message: `${logged} is wrong.`, param: logged });
});

test.each([
  ['There is no "prod_us_1gb_7d".', 'There is no "prod_us_1gb_7d".'],
  [`There is no "${'a'.repeat(60)}".`, `There is no "${'a'.repeat(60)}".`],
  [`There is no "${'a'.repeat(61)}".`, 'There is no "…'],
  ['There is no "K7QX".', 'There is no "…'],
  ['There is no "a"K7QX"b".', 'There is no "…'],
  ['There is no "a"K7QX', 'There is no "…'],
])('of “%s”, the log has “%s”', (message, logged) => {
  expect(errorForLog(message, 'id').message).toBe(logged);
});

test('a name that a client made up is hidden, also if it is only too long', () => {
  expect(errorForLog('metadata.order_id is wrong.', 'metadata.order_id').param).toBe('metadata.order_id');
  const long = 'a'.repeat(41);
  expect(errorForLog(`${long} is wrong.`, long)).toEqual({ message: '* is wrong.', param: '*' });
});
