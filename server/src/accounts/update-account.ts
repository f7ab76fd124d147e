import { type InputFor, idPrefixes } from '@simplane/contract';
import { noSuch } from '../platform/app-error.ts';
import type { Queryable } from '../platform/db/database.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import { changedFields, recordAudit } from './audit/record.ts';
import type { Author, OperatorContext } from './context.ts';
import { accountClosed, accountUuidOf } from './get-account.ts';
import { requireChangeable } from './moves/require-here.ts';
import { accountSettingsOf, presentAccount } from './present-account.ts';
import { type AccountRow, lockAccountRow, saveAccount } from './sql/accounts.ts';

type Input = InputFor<'updateAccount'>;

/** `PATCH /v1/operator/accounts/{id}`. */
export async function updateAccount(tx: Queryable, ctx: OperatorContext, { params, body }: Input) {
  const row = await changeAccount(tx, ctx, accountUuidOf(params.id), body);
  if (!row) throw noSuch('account', params.id);
  return { body: presentAccount(row), changes: null };
}

/** Changes only the given fields. Processes see it when they next look up a key of the account, within 5 s. */
export async function changeAccount(
  tx: Queryable,
  keeper: Author,
  uuid: string,
  changes: Input['body'],
): Promise<AccountRow | null> {
  const row = await lockAccountRow(tx, uuid);
  if (!row) return null;
  requireChangeable(row);
  if (row.closed_at) throw accountClosed();
  const changed = { ...row, ...changes };
  await saveAccount(tx, changed);
  await recordAudit(tx, keeper, {
    accountUuid: uuid,
    action: 'account.updated',
    target: { type: 'account', id: idOfUuid(idPrefixes.account, uuid) },
    changes: changedFields(accountSettingsOf(row), accountSettingsOf(changed)),
  });
  return changed;
}
