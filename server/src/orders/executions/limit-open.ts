import type { Context } from '../../accounts/context.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { lockAndCountOpen } from './sql/executions.ts';

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
