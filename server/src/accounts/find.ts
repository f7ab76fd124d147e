import { idPrefixes } from '@simplane/contract';
import type { Queryable } from '../platform/db/database.ts';
import { idOfUuid, uuidOfId } from '../platform/ids/uuid.ts';
import type { Account } from './context.ts';
import { type AccountRow, findAccount, statusOf } from './sql/accounts.ts';

export async function findAccountById(db: Queryable, id: string): Promise<Account | null> {
  const uuid = uuidOfId(idPrefixes.account, id);
  const row = uuid && (await findAccount(db, uuid));
  return row ? describeAccount(row) : null;
}

/** The account as requests carry it. */
export function describeAccount(row: Omit<AccountRow, 'created_at' | 'closing'>): Account {
  return {
    id: idOfUuid(idPrefixes.account, row.id),
    uuid: row.id,
    name: row.name,
    apiVersion: row.api_version,
    status: statusOf(row),
    move: row.move,
    limits: {
      webhookEndpoints: row.max_webhook_endpoints,
      openExecutions: row.max_open_executions,
      requestsPerSecond: row.requests_per_second,
    },
  };
}
