import { type AuditEntry, idPrefixes, type OperatorAuditEntry } from '@simplane/contract';
import { unixSeconds } from '../clock.ts';
import { idOfUuid } from '../ids/uuid.ts';
import { unixMsOf } from '../ids/uuid-range.ts';
import type { EntryRow } from './sql/entry-row.ts';

/** As the account sees it, without its operator's key and address. */
export function presentEntry(row: EntryRow): AuditEntry {
  const isOwn = row.actor_type === 'api_key';
  return {
    ...present(row),
    actor: isOwn ? actorOf(row) : { type: 'operator', id: null, name: 'Operator' },
    ip: isOwn ? row.ip : null,
  };
}

export function presentOperatorEntry(row: EntryRow): OperatorAuditEntry {
  return { ...present(row), account_id: row.account_id && idOfUuid(idPrefixes.account, row.account_id) };
}

function present(row: EntryRow): AuditEntry {
  return {
    id: idOfUuid(idPrefixes.auditEntry, row.id),
    object: 'audit_entry',
    actor: actorOf(row),
    action: row.action,
    target: { type: row.target_type, id: row.target_id },
    ...(row.changes !== null && { changes: row.changes }),
    request_id: row.request_id,
    ip: row.ip,
    created: unixSeconds(new Date(unixMsOf(row.id))),
  };
}

function actorOf({ actor_type: type, actor_id: id, actor_name: name }: EntryRow): AuditEntry['actor'] {
  return { type, id, name };
}
