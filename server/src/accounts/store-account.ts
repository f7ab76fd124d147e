import { currentApiVersion } from '@simplane/contract';
import type { Queryable } from '../platform/db/database.ts';
import { uuidText } from '../platform/ids/uuid.ts';
import type { TimeAndIds } from '../platform/ids/uuid-v7.ts';
import { type AccountLimits, type AccountRow, insertAccount } from './sql/accounts.ts';

/** Creates an account pinned to the current API version. */
export async function storeAccount(
  db: Queryable,
  { clock, newUuid }: TimeAndIds,
  name: string,
  limits: Partial<AccountLimits> = {},
): Promise<AccountRow> {
  const account: AccountRow = {
    id: uuidText(newUuid()),
    name,
    api_version: currentApiVersion,
    status: 'active',
    max_webhook_endpoints: limits.max_webhook_endpoints ?? null,
    max_open_executions: limits.max_open_executions ?? null,
    requests_per_second: limits.requests_per_second ?? null,
    created_at: new Date(clock.nowMs()),
    closed_at: null,
    closing: null,
    move: null,
  };
  await insertAccount(db, account);
  return account;
}
