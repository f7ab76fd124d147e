import { expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import { unixMsOf } from '../../platform/ids/uuid-range.ts';
import { findOrderRequests } from './find-order-requests.ts';

const esim = { account_id: 'a', iccid: '8999901000000000018' };

test('requests are looked for around the times of all the orders, with a margin for entries written late', async () => {
  const asked: number[][] = [];
  const db = {
    async query(_statement: object, values: string[]) {
      asked.push(values.slice(-2).map(unixMsOf));
      return [{ execution_id: 'exec_1', request_id: 'req_1' }];
    },
  } as unknown as Queryable;
  expect(await findOrderRequests(db, esim, [])).toEqual(new Map());
  const orders = [5_000_000, 1_000_000, 9_000_000].map((at, n) => ({
    id: `exec_${n}`,
    createdAt: new Date(at),
  }));
  expect(await findOrderRequests(db, esim, orders)).toEqual(new Map([['exec_1', 'req_1']]));
  expect(asked).toEqual([[940_000, 9_060_000]]);
});
