import { type Account, idPrefixes } from '@simplane/contract';
import { type AppError, conflict, noSuch } from '../platform/app-error.ts';
import type { Queryable } from '../platform/db/database.ts';
import { uuidOfId } from '../platform/ids/uuid.ts';
import type { OperatorContext } from './context.ts';
import { requireChangeable } from './moves/require-here.ts';
import { presentAccount } from './present-account.ts';
import { type AccountRow, findAccount } from './sql/accounts.ts';

export async function getAccount(
  ctx: OperatorContext,
  { params }: { params: { id: string } },
): Promise<Account> {
  return presentAccount(await requireAccount(ctx.db, params.id));
}

export async function requireAccount(db: Queryable, id: string): Promise<AccountRow> {
  const row = await findAccount(db, accountUuidOf(id));
  if (!row) throw noSuch('account', id);
  return row;
}

/** Throws if the account was closed: it gets nothing new. */
export async function requireOpenAccount(db: Queryable, uuid: string): Promise<void> {
  if ((await findAccount(db, uuid))?.closed_at) throw accountClosed();
}

/** Throws if a change of the account's keys would be lost or stay without effect. An operator's key has no account. */
export async function requireKeysChangeable(db: Queryable, accountUuid: string | null): Promise<void> {
  const account = accountUuid === null ? null : await findAccount(db, accountUuid);
  if (account) requireChangeable(account);
}

export function accountClosed(): AppError {
  return conflict(
    'The account is closed. It is not opened again, and gets no new keys or orders: create another account.',
  );
}

/** Throws if `id` is malformed. */
export function accountUuidOf(id: string): string {
  const uuid = uuidOfId(idPrefixes.account, id);
  if (uuid === null) throw noSuch('account', id);
  return uuid;
}
