import { type AuditEntry, idPrefixes, type OperatorAuditEntry } from '@simplane/contract';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { unixMsOf } from '../../platform/ids/uuid-range.ts';
import type { EntryRow } from './sql.ts';

/** As the account sees it, without its operator's key, address and way. */
export function presentEntry(row: EntryRow): AuditEntry {
  const isOwn = row.actor_type === 'api_key' || row.actor_type === 'anonymous';
  return {
    ...present(row),
    actor: isOwn ? actorOf(row) : { type: 'operator', id: null, name: 'Operator' },
    ip: isOwn ? row.ip : null,
    via: isOwn ? row.via : null,
  };
}

export function presentOperatorEntry(row: EntryRow): OperatorAuditEntry {
  return { ...present(row), account_id: row.account_id && idOfUuid(idPrefixes.account, row.account_id) };
}

function present(row: EntryRow): AuditEntry {
  const changes = changesOf(row);
  return {
    id: idOfUuid(idPrefixes.auditEntry, row.id),
    object: 'audit_entry',
    actor: actorOf(row),
    action: row.action,
    target: { type: row.target_type, id: row.target_id },
    ...(changes !== null && { changes }),
    request_id: row.request_id,
    ip: row.ip,
    via: row.via,
    created: unixSeconds(new Date(unixMsOf(row.id))),
  };
}

function actorOf({ actor_type: type, actor_id: id, actor_name: name }: EntryRow): AuditEntry['actor'] {
  return { type, id, name };
}

function changesOf({ changes, orders }: EntryRow): Record<string, unknown> | null {
  if (!orders) return changes;
  return { orders: orders.map((uuid) => ({ execution_id: idOfUuid(idPrefixes.execution, uuid) })) };
}
