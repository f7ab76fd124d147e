import { idPrefixes } from '@simplane/contract';
import { findAccount, isOpen, listAccountRows } from '../accounts/sql/accounts.ts';
import { uuidOfId } from '../platform/ids/uuid.ts';
import { CommandError } from './command-error.ts';
import type { Tools } from './with-database.ts';

/** The account with this id, or the only one that is open. */
export async function accountOf({ db }: Tools, id: string | undefined): Promise<string> {
  if (id === undefined) {
    const accounts = (await listAccountRows(db)).filter(isOpen);
    const [only] = accounts;
    if (only && accounts.length === 1) return only.id;
    throw new CommandError(
      only
        ? 'there are several accounts: choose one with --account acct_…; `accounts list` shows them'
        : 'there is no account yet: create one with `accounts create --name …`',
    );
  }
  const uuid = uuidOfId(idPrefixes.account, id);
  if (!uuid || !(await findAccount(db, uuid))) throw new CommandError(`no account has the id "${id}"`);
  return uuid;
}
