import { idPrefixes } from '@simplane/contract';
import { expect, test } from 'vitest';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { lowestUuid } from '../../platform/ids/uuid-range.ts';
import type { OperatorContext } from '../context.ts';
import { listOperatorAuditLog } from './list.ts';

/** The values of the statement that reads the entries of this account. */
async function valuesFor(query: object): Promise<unknown[]> {
  const asked: unknown[][] = [];
  const db = {
    async query(_statement: object, values: unknown[]) {
      asked.push(values);
      return [];
    },
  };
  const ctx = { db, waitForRoom: async () => {} } as unknown as OperatorContext;
  await listOperatorAuditLog(ctx, { params: {}, query, body: {} });
  return asked.flat();
}

test('the entries of an account whose id is none are not those of all accounts', async () => {
  const uuid = '0190a000000070008000000000000000';
  const [page, known, unknown] = [
    await valuesFor({}),
    await valuesFor({ account_id: idOfUuid(idPrefixes.account, uuid) }),
    await valuesFor({ account_id: 'acct_none' }),
  ];
  expect(known).toEqual([...page, uuid]);
  expect(unknown).toEqual([...page, lowestUuid]);
});
