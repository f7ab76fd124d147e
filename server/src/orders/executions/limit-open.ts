import { idPrefixes } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { AppError, conflict } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { countOpen, findOpenChange, lockAndCountOpen } from './sql/executions.ts';

type Needed = { count?: number; isDryRun?: boolean | undefined };

/** Throws if the account has a limit of open executions and too little of it is left. A dry run takes no lock. */
export async function requireRoom(
  { account }: Context,
  tx: Queryable,
  { count = 1, isDryRun = false }: Needed = {},
): Promise<void> {
  const limit = account.limits.openExecutions;
  if (limit === null) return;
  const countThem = isDryRun ? countOpen : lockAndCountOpen;
  if (limit - (await countThem(tx, account.uuid, limit)) < count) throw executionLimitReached(limit, count);
}

/** How many more executions the account may have until the transaction ends. */
export async function findRoom(tx: Queryable, accountUuid: string, limit: number): Promise<number> {
  return limit - (await lockAndCountOpen(tx, accountUuid, limit));
}

/** Not a 409, which would be stored: the same request works when others have ended. */
export function executionLimitReached(limit: number, count = 1): AppError {
  const reached =
    count === 1
      ? `The account has reached its limit of ${limit} queued and running executions.`
      : `${count} more executions would exceed the account’s limit of ${limit} queued and running ones.`;
  return new AppError(
    'execution_limit_reached',
    `${reached} Retry when some have ended, or ask the operator for a higher limit.`,
    { headers: { 'Retry-After': '1' } },
  );
}

/**
 * One change per eSIM at a time: two at once could reach the network in a different order than the database. One that waits for the
 * core is excepted: the next one replaces it.
 */
export async function requireNoOpenChange(
  tx: Queryable,
  { account_id, iccid }: { account_id: string; iccid: string },
  exceptUuid: string | null = null,
): Promise<void> {
  const open = await findOpenChange(tx, account_id, iccid, exceptUuid);
  if (!open) return;
  const id = idOfUuid(idPrefixes.execution, open.id);
  throw conflict(
    `Another change of this eSIM is running: ${open.type}, execution ${id}. Wait until it has finished.`,
  );
}
