import { idPrefixes } from '@simplane/contract';
import type { Account } from '../context.ts';
import type { Queryable } from '../db/database.ts';
import { uuidOfId } from '../ids/uuid.ts';
import { describeAccount } from './describe-account.ts';
import { findAccount } from './sql/find-account.ts';

export async function findAccountById(db: Queryable, id: string): Promise<Account | null> {
  const uuid = uuidOfId(idPrefixes.account, id);
  const row = uuid && (await findAccount(db, uuid));
  return row ? describeAccount(row) : null;
}
