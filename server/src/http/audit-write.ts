import { Socket } from 'node:net';
import { type AuditAction, idPrefixes, type RequestWay, type WriteOperation } from '@simplane/contract';
import type { FastifyRequest } from 'fastify';
import { recordAudit } from '../accounts/audit/record.ts';
import type { Context } from '../accounts/context.ts';
import type { Queryable } from '../platform/db/database.ts';
import { uuidOfId } from '../platform/ids/uuid.ts';
import { isDashboardCall } from './dashboard/paths.ts';

type Asked = { request: FastifyRequest; ctx: Context; definition: WriteOperation };
type Changes = Record<string, unknown> | null | undefined;

/** Every write is in the audit log: adds the entry that its operation declares. Orders have theirs in the statement that accepts them. */
export async function auditWrite(tx: Queryable, asked: Asked, changes: Changes): Promise<void> {
  if (changes === null) return;
  const { params, rendered, id: requestId } = asked.request;
  const named = Object.values(params as Record<string, string>).at(-1);
  const id = named ?? (rendered as { id?: string } | null)?.id ?? requestId;
  await record(tx, asked, { action: asked.definition.audit.action, id, changes });
}

/** A repeated request gets the same answer, with its secret. */
export function auditShownAgain(tx: Queryable, asked: Asked, body: string): Promise<void> {
  return record(tx, asked, { action: 'secret.shown_again', id: JSON.parse(body).id });
}

function record(
  tx: Queryable,
  { request, ctx, definition }: Asked,
  { action, id, changes = {} }: { action: AuditAction; id: string; changes?: Changes },
): Promise<void> {
  return recordAudit(tx, ctx, {
    accountUuid: accountUuidOf(request),
    action,
    target: { type: definition.audit.target, id },
    ...(changes && Object.keys(changes).length > 0 && { changes }),
  });
}

export function wayOf(request: FastifyRequest): RequestWay {
  if (isDashboardCall(request)) return 'dashboard';
  // Only agents' tools call operations inside the process. Such a call has no socket, and no header can imitate that.
  return request.raw.socket instanceof Socket ? 'api' : 'agent';
}

/** An operator's operation on an account names it in its path. */
function accountUuidOf({ account, params }: FastifyRequest): string | null {
  const { id = '' } = params as Record<string, string>;
  return account?.uuid ?? uuidOfId(idPrefixes.account, id);
}
