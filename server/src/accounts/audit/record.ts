import type { ActorType, AuditAction, AuditTargetType } from '@simplane/contract';
import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import type { NewUuid } from '../../platform/ids/uuid-v7.ts';
import { redact } from '../../platform/telemetry/redact.ts';
import type { Origin } from '../context.ts';
import { insertEntry } from './sql.ts';

type Entry = {
  /** The account it concerns; null if it concerns the deployment. */
  accountUuid: string | null;
  action: AuditAction;
  target: { type: AuditTargetType; id: string };
  /** What was changed, by field. Never a secret; keys and activation codes are redacted as a safeguard. */
  changes?: Record<string, unknown>;
};

/** The origin of what the server's command line does. */
export const commandLine: Origin = { apiKey: null, requestId: null, ip: null, via: 'command_line' };

/** Writes an audit entry in the transaction of its change, so that there is one exactly if the change was made. */
export async function recordAudit(
  tx: Queryable,
  origin: Origin & { clock: Clock; newUuid: NewUuid },
  { accountUuid, action, target, changes }: Entry,
): Promise<void> {
  const isAnonymous = origin.apiKey === null && origin.requestId !== null;
  const actor = isAnonymous ? anonymous : actorOf(origin);
  await insertEntry(tx, {
    accountUuid,
    uuid: uuidText(origin.newUuid()),
    actorType: actor.type,
    actorId: actor.id,
    actorName: actor.name,
    action,
    target,
    changes: changes === undefined ? null : redact(JSON.stringify(changes)),
    requestId: origin.requestId,
    ip: origin.ip,
    via: origin.via ?? null,
    createdAt: new Date(origin.clock.nowMs()),
  });
}

/** A request without a key that is known. */
const anonymous = { type: 'anonymous', id: null, name: null } as const;

export type Actor = { type: ActorType; id: string | null; name: string | null };

export function actorOf({ apiKey }: Origin): Actor {
  if (!apiKey) return { type: 'command_line', id: null, name: null };
  const type = apiKey.scopes.includes('operator') ? 'operator' : 'api_key';
  return { type, id: apiKey.id, name: apiKey.name };
}

type Change = { from: unknown; to: unknown };

/** The fields that differ, each with its old and its new value; null for a field that one side does not have. */
export function changedFields<Fields extends object>(before: Fields, after: Fields): Record<string, Change> {
  const changes: Record<string, Change> = {};
  for (const name of Object.keys(after) as (keyof Fields & string)[]) {
    const [from, to] = [before[name] ?? null, after[name] ?? null];
    if (JSON.stringify(from) !== JSON.stringify(to)) changes[name] = { from, to };
  }
  return changes;
}
