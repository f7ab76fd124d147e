import type { AuditAction, AuditActorType, AuditTargetType } from '@simplane/contract';
import type { Clock } from '../clock.ts';
import type { Origin } from '../context.ts';
import type { Queryable } from '../db/database.ts';
import { uuidText } from '../ids/uuid.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { insertEntry } from './sql/insert-entry.ts';

type Entry = {
  /** The account it concerns; null if it concerns the deployment. */
  accountUuid: string | null;
  action: AuditAction;
  target: { type: AuditTargetType; id: string };
  /** What was changed, by field. Never a secret. */
  changes?: Record<string, unknown>;
};

/** Writes an audit entry in the transaction of what it tells of, so there is one exactly if the change was made. */
export async function recordAudit(
  tx: Queryable,
  origin: Origin & { clock: Clock; newUuid: NewUuid },
  { accountUuid, action, target, changes }: Entry,
): Promise<void> {
  const { apiKey } = origin;
  await insertEntry(tx, {
    accountUuid,
    uuid: uuidText(origin.newUuid()),
    actorType: actorTypeOf(origin),
    actorId: apiKey?.id ?? null,
    actorName: apiKey?.name ?? null,
    action,
    target,
    changes: changes ?? null,
    requestId: origin.requestId,
    ip: origin.ip,
    createdAt: new Date(origin.clock.nowMs()),
  });
}

export function actorTypeOf({ apiKey }: Origin): AuditActorType {
  if (!apiKey) return 'command_line';
  return apiKey.scopes.includes('operator') ? 'operator' : 'api_key';
}
