import { type InputOf, idPrefixes, type Operations } from '@simplane/contract';
import type { Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { Outcome } from '../platform/idempotency/outcome.ts';
import { runOnce } from '../platform/idempotency/run-once.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import type { NewUuid } from '../platform/ids/uuid-v7.ts';
import { recordAudit } from './audit/record.ts';
import type { OperatorWriteContext, Origin } from './context.ts';
import { createAccount } from './create-account.ts';
import { accountSettingsOf, presentAccount } from './present-account.ts';
import type { AccountRow } from './sql/accounts.ts';

/** Who opens or changes an account: an operator's request, or the server's command line. */
export type AccountKeeper = Origin & { clock: Clock; newUuid: NewUuid };

type Body = InputOf<Operations['createAccount']>['body'];

/** `POST /v1/operator/accounts`. */
export function postAccount(ctx: OperatorWriteContext, { body }: { body: Body }): Promise<Outcome> {
  return runOnce(ctx, async (tx) => ctx.render(presentAccount(await openAccount(tx, ctx, body))));
}

/** Creates an account and its audit entry. */
export async function openAccount(
  tx: Queryable,
  keeper: AccountKeeper,
  { name, ...limits }: Body,
): Promise<AccountRow> {
  const row = await createAccount(tx, keeper, name, limits);
  await recordAudit(tx, keeper, {
    accountUuid: row.id,
    action: 'account.created',
    target: { type: 'account', id: idOfUuid(idPrefixes.account, row.id) },
    changes: accountSettingsOf(row),
  });
  return row;
}
