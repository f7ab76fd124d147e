import { expect, test } from 'vitest';
import type { Queryable } from '../../../platform/db/database.ts';
import { promote } from './promote.ts';

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
