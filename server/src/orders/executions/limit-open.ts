import { idPrefixes } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { findOpenChange, lockAndCountOpen } from './sql/executions.ts';

/** Throws if the account has a limit of open executions and has reached it. */
export async function requireRoom({ account }: Context, tx: Queryable): Promise<void> {
  const limit = account.limits.openExecutions;
  if (limit !== null && (await findRoom(tx, account.uuid, limit)) === 0) throw executionLimitReached(limit);
}

/** How many more executions the account may have until the transaction ends. */
export async function findRoom(tx: Queryable, accountUuid: string, limit: number): Promise<number> {
  return limit - (await lockAndCountOpen(tx, accountUuid, limit));
}

/** Not a 409, which would be stored: the same request works when others have ended. */
export function executionLimitReached(limit: number): AppError {
  return new AppError(
    'execution_limit_reached',
    `The account has reached its limit of ${limit} queued and running executions. Retry when some have ended, or ask the operator for a higher limit.`,
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
  throw new AppError(
    'state_conflict',
    `Another change of this eSIM is running: ${open.type}, execution ${id}. Wait until it has finished.`,
  );
}
