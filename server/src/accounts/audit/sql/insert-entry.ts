import type { AuditAction, AuditActorType, AuditTargetType, AuditWay } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';

type NewEntry = {
  accountUuid: string | null;
  uuid: string;
  actorType: AuditActorType;
  actorId: string | null;
  actorName: string | null;
  action: AuditAction;
  target: { type: AuditTargetType; id: string };
  /** JSON. */
  changes: string | null;
  requestId: string | null;
  ip: string | null;
  via: AuditWay | null;
  createdAt: Date;
};

export async function insertEntry(tx: Queryable, entry: NewEntry): Promise<void> {
  await tx.query(
    {
      name: 'audit_insert',
      text: `
insert into audit_log
  (account_id, id, actor_type, actor_id, actor_name, action, target_type, target_id, changes, request_id, ip, via, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    },
    [
      entry.accountUuid,
      entry.uuid,
      entry.actorType,
      entry.actorId,
      entry.actorName,
      entry.action,
      entry.target.type,
      entry.target.id,
      entry.changes,
      entry.requestId,
      entry.ip,
      entry.via,
      entry.createdAt,
    ],
  );
}
