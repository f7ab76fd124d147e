import { type InputFor, idPrefixes, type ServiceChange } from '@simplane/contract';
import type { OperatorContext } from '../../accounts/context.ts';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { readPageById } from '../../platform/lists/read-page.ts';
import { listQueuedServices, type QueuedServiceRow } from './core-sql.ts';

/** What the core does not have, of all accounts. */
export function listServiceChanges(
  { db }: Pick<OperatorContext, 'db'>,
  { query }: Pick<InputFor<'listServiceChanges'>, 'query'>,
) {
  const { state = 'pending' } = query;
  return readPageById(query, {
    scope: { list: 'service_changes', accountId: '', filters: { state } },
    read: (beforeUuid, count) => listQueuedServices(db, state === 'refused', beforeUuid, count),
    present,
  });
}

function present(row: QueuedServiceRow): ServiceChange {
  const { state, reason, kbps, bundle_id, until } = row.service;
  return {
    object: 'service_change',
    account_id: idOfUuid(idPrefixes.account, row.account_id),
    iccid: row.iccid,
    state: row.is_refused ? 'refused' : 'pending',
    version: row.version,
    service: { state, reason, kbps, bundle_id, until },
    since: unixSeconds(row.since),
    failures: row.failures,
    next_attempt_at: row.is_refused ? null : unixSeconds(row.due_at),
    error: row.error && { message: row.error.message },
  };
}
