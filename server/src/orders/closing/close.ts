import type { InputFor } from '@simplane/contract';
import { markClosed } from '../../accounts/close-account.ts';
import type { OperatorContext } from '../../accounts/context.ts';
import { accountUuidOf } from '../../accounts/get-account.ts';
import { presentAccount } from '../../accounts/present-account.ts';
import { disableEndpoints } from '../../notify/webhooks/endpoints/disable.ts';
import { noSuch } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';

/** `DELETE /v1/operator/accounts/{id}`. */
export async function closeAccount(
  tx: Queryable,
  ctx: OperatorContext,
  { params, query }: InputFor<'closeAccount'>,
) {
  const row = await closeByUuid(tx, ctx, accountUuidOf(params.id), query.terminate_esims ?? false);
  if (!row) throw noSuch('account', params.id);
  return { body: presentAccount(row), changes: null };
}

/** Ends at once what lets someone in or sends something out; a chore ends the orders (`continue.ts`). */
export async function closeByUuid(tx: Queryable, ...given: ClosedBy) {
  const [keeper, uuid] = given;
  const row = await markClosed(tx, ...given);
  if (row) await disableEndpoints(tx, uuid, new Date(keeper.clock.nowMs()));
  return row;
}

type ClosedBy = Parameters<typeof markClosed> extends [Queryable, ...infer Rest] ? Rest : never;
