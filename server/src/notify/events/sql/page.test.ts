import { expect, test } from 'vitest';
import type { Queryable } from '../../../platform/db/database.ts';
import { queryWithinBytes } from './page.ts';

test('a page is cut if even one event was left out of it', async () => {
  const isCut = async (found: number) => {
    const db = { query: async () => [{ id: '1', body: '{}', found }] } as unknown as Queryable;
    return (await queryWithinBytes(db, { name: 'test', text: '' }, [], 1)).isCut;
  };
  expect([await isCut(1), await isCut(2), await isCut(3)]).toEqual([false, true, true]);
});
