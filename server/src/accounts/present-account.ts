import { type Account, idPrefixes } from '@simplane/contract';
import { unixSeconds } from '../platform/clock.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import { type AccountRow, statusOf } from './sql/accounts.ts';

/** An account as the operator sees it. */
export function presentAccount(row: AccountRow): Account {
  return {
    id: idOfUuid(idPrefixes.account, row.id),
    object: 'account',
    ...accountSettingsOf(row),
    status: statusOf(row),
    api_version: row.api_version,
    created: unixSeconds(row.created_at),
    closed_at: row.closed_at && unixSeconds(row.closed_at),
    closing: row.closing && presentClosing(row.closing),
  };
}

function presentClosing({ finished_ms: finishedMs, ...closing }: NonNullable<AccountRow['closing']>) {
  return { ...closing, finished_at: finishedMs === null ? null : Math.floor(finishedMs / 1000) };
}

/** The fields that a PATCH can change. */
export function accountSettingsOf(row: AccountRow) {
  return {
    name: row.name,
    status: row.status,
    max_webhook_endpoints: row.max_webhook_endpoints,
    max_open_executions: row.max_open_executions,
    requests_per_second: row.requests_per_second,
  };
}
