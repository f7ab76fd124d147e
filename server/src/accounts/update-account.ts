import { type InputOf, idPrefixes, type Operations } from '@simplane/contract';
import type { Queryable } from '../platform/db/database.ts';
import type { Outcome } from '../platform/idempotency/outcome.ts';
import { runOnce } from '../platform/idempotency/run-once.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import { changedFields } from './audit/changed-fields.ts';
import { recordAudit } from './audit/record.ts';
import type { OperatorWriteContext } from './context.ts';
import { accountUuidOf, noSuchAccount } from './get-account.ts';
import type { AccountKeeper } from './open-account.ts';
import { accountSettingsOf, presentAccount } from './present-account.ts';
import { type AccountRow, lockAccountRow, saveAccount } from './sql/accounts.ts';

type Input = InputOf<Operations['updateAccount']>;

/** `PATCH /v1/operator/accounts/{id}`. */
export function updateAccount(ctx: OperatorWriteContext, { params, body }: Input): Promise<Outcome> {
  return runOnce(ctx, async (tx) => {
    const row = await changeAccount(tx, ctx, accountUuidOf(params.id), body);
    if (!row) throw noSuchAccount(params.id);
    return ctx.render(presentAccount(row));
  });
}

/** Changes only the given fields. Processes see it when they next look up a key of the account, within 5 s. */
export async function changeAccount(
  tx: Queryable,
  keeper: AccountKeeper,
  uuid: string,
  changes: Input['body'],
): Promise<AccountRow | null> {
  const row = await lockAccountRow(tx, uuid);
  if (!row) return null;
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
