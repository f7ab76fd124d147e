import type { Queryable } from '../../db/database.ts';
import type { SealedColumn } from '../sealed-columns.ts';
import { type RowKey, textsOf } from './key-columns.ts';
import { type Page, stale } from './stale.ts';

/** A stored secret that must be sealed again. `isOver`: it is no longer needed and is deleted instead. */
export type StaleSecret = { key: RowKey; stored: string; row: string; isOver: boolean };

/** Locks the stale secrets of a page, except rows locked by others. It waits for no lock, so it cannot deadlock. */
export function lockStale(
  tx: Queryable,
  column: SealedColumn,
  page: Page,
  prefix: string,
): Promise<StaleSecret[]> {
  const { text, values } = stale(column, page, prefix);
  return tx.query(
    {
      name: `sealing_lock_${column.id}${page.after ? '' : '_first'}`,
      text: `
select
  array[${textsOf(column.key)}] as key,
  ${column.value} as stored,
  ${column.row} as row,
  ${column.isOver ?? 'false'} as "isOver"
${text}
for update skip locked`,
    },
    values,
  );
}
