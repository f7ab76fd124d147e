import { idPrefixes } from '@simplane/contract';
import { createAccount } from '../accounts/create-account.ts';
import { listAccountRows } from '../accounts/sql/list-accounts.ts';
import type { AccountRow } from '../accounts/sql/rows.ts';
import { idOfUuid } from '../ids/uuid.ts';
import { print } from './print.ts';
import type { Tools } from './with-database.ts';

type Options = { json: boolean };

export async function createAccountCommand(tools: Tools, options: Options & { name: string }): Promise<void> {
  print([present(await createAccount(tools.db, tools, options.name))], options);
}

export async function listAccountsCommand(tools: Tools, options: Options): Promise<void> {
  print((await listAccountRows(tools.db)).map(present), options);
}

function present(row: AccountRow) {
  return {
    id: idOfUuid(idPrefixes.account, row.id),
    name: row.name,
    api_version: row.api_version,
    created: row.created_at.toISOString(),
  };
}
