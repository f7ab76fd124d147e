import { type InputFor, idPrefixes } from '@simplane/contract';
import type { Queryable } from '../platform/db/database.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import { recordAudit } from './audit/record.ts';
import type { Author, OperatorContext } from './context.ts';
import { accountSettingsOf, presentAccount } from './present-account.ts';
import type { AccountRow } from './sql/accounts.ts';
import { storeAccount } from './store-account.ts';

type Body = InputFor<'createAccount'>['body'];

/** `POST /v1/operator/accounts`. */
export async function createAccount(tx: Queryable, ctx: OperatorContext, { body }: { body: Body }) {
  return { body: presentAccount(await openAccount(tx, ctx, body)), changes: null };
}

/** Creates an account and its audit entry. */
export async function openAccount(
  tx: Queryable,
  keeper: Author,
  { name, ...limits }: Body,
): Promise<AccountRow> {
  const row = await storeAccount(tx, keeper, name, limits);
  await recordAudit(tx, keeper, {
    accountUuid: row.id,
    action: 'account.created',
    target: { type: 'account', id: idOfUuid(idPrefixes.account, row.id) },
    changes: accountSettingsOf(row),
  });
  return row;
}
