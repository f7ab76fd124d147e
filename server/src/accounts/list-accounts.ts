import type { Queryable } from '../db/database.ts';
import { type AccountRow, listAccountRows } from './sql.ts';

/** Every account, oldest first. */
export function listAccounts(db: Queryable): Promise<AccountRow[]> {
  return listAccountRows(db);
}
