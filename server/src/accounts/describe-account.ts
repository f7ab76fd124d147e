import { idPrefixes } from '@simplane/contract';
import { idOfUuid } from '../platform/ids/uuid.ts';
import type { Account } from './context.ts';
import type { AccountRow } from './sql/accounts.ts';

/** The account as requests carry it. */
export function describeAccount(row: Omit<AccountRow, 'created_at'>): Account {
  return {
    id: idOfUuid(idPrefixes.account, row.id),
    uuid: row.id,
    name: row.name,
    apiVersion: row.api_version,
    status: row.status,
    limits: {
      webhookEndpoints: row.max_webhook_endpoints,
      openExecutions: row.max_open_executions,
      requestsPerSecond: row.requests_per_second,
    },
  };
}
