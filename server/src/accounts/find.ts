import { idPrefixes } from '@simplane/contract';
import type { Queryable } from '../platform/db/database.ts';
import { uuidOfId } from '../platform/ids/uuid.ts';
import type { Account } from './context.ts';
import { describeAccount } from './describe-account.ts';
import { findAccount } from './sql/accounts.ts';

export async function findAccountById(db: Queryable, id: string): Promise<Account | null> {
  const uuid = uuidOfId(idPrefixes.account, id);
  const row = uuid && (await findAccount(db, uuid));
  return row ? describeAccount(row) : null;
}
