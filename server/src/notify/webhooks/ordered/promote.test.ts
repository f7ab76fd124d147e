import { expect, test } from 'vitest';
import type { Queryable } from '../../../platform/db/database.ts';
import { type OrderKey, promote, promoteAndAnnounce } from './promote.ts';

test('what waits for one eSIM at two endpoints is promoted at both, and a key that comes twice once', async () => {
  const asked: unknown[] = [];
  const db = {
    async query(_: unknown, values: unknown[]) {
      asked.push(...values);
      return [];
    },
  } as unknown as Queryable;
  const [account, one, two] = ['a', 'b', 'c'].map((digit) => digit.repeat(32)) as [string, string, string];
  const keyOf = (endpointUuid: string) => ({ accountUuid: account, endpointUuid, iccid: '8999' });
  await promote(db, [one, two, one].map(keyOf));
  expect(asked.map(String).join(' ').split('8999')).toHaveLength(3);
});

test('senders are told of each account of which something was promoted, once, and of no other', async () => {
  const keys = [...'aabc'].map((digit, n): OrderKey => {
    return { accountUuid: digit.repeat(32), endpointUuid: String(n).repeat(32), iccid: '8999' };
  });
  const promoted = keys.slice(0, 3).map((key) => ({ ...key, deliveryUuid: key.endpointUuid }));
  const announced: unknown[][] = [];
  const signals = { announce: (...signal: unknown[]) => announced.push(signal) };
  const db = { query: async () => promoted } as unknown as Queryable;
  expect(await promoteAndAnnounce({ db, signals }, keys)).toBe(3);
  expect(announced).toEqual(['a', 'b'].map((digit) => ['deliveries', digit.repeat(32)]));
});

test('many keys are promoted some at a time', async () => {
  let statements = 0;
  const query = async () => {
    statements += 1;
    return [];
  };
  const db = { query } as unknown as Queryable;
  const keys = Array.from({ length: 401 }, (_, n): OrderKey => {
    return { accountUuid: 'a'.repeat(32), endpointUuid: 'b'.repeat(32), iccid: String(n) };
  });
  await promote(db, keys);
  expect(statements).toBe(3);
});
