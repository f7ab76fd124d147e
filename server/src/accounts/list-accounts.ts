import type { InputFor } from '@simplane/contract';
import { readPageById } from '../platform/lists/read-page.ts';
import type { OperatorContext } from './context.ts';
import { presentAccount } from './present-account.ts';
import { listAccountPage } from './sql/accounts.ts';

export function listAccounts(ctx: OperatorContext, { query }: InputFor<'listAccounts'>) {
  return readPageById(query, {
    scope: { list: 'accounts', accountId: '', filters: {} },
    read: (beforeUuid, count) => listAccountPage(ctx.db, beforeUuid, count),
    present: presentAccount,
  });
}
