import { Socket } from 'node:net';
import { type AuditAction, type AuditWay, idPrefixes, type WriteOperation } from '@simplane/contract';
import type { FastifyRequest } from 'fastify';
import { recordAudit } from '../accounts/audit/record.ts';
import type { Context, WriteContext } from '../accounts/context.ts';
import type { Queryable } from '../platform/db/database.ts';
import { uuidOfId } from '../platform/ids/uuid.ts';
import { isDashboardCall } from './dashboard/paths.ts';

type AuditParts = Pick<WriteContext, 'describe' | 'afterWork' | 'onSecretShownAgain'>;

/** Every write is in the audit log: adds the entry that its operation declares, unless its function has recorded one. */
export function auditWrite(
  { action, target }: WriteOperation['audit'],
  request: FastifyRequest,
  ctx: Context,
): AuditParts {
  const audits = { count: 0 };
  ctx.audits = audits;
  let details: Record<string, unknown> | null = {};
  return {
    describe(changes) {
      details = changes;
    },
    async afterWork(tx) {
      if (details && audits.count === 0) await record(tx, action, targetIdOf(request), details);
    },
    onSecretShownAgain: (tx, body) => record(tx, 'secret.shown_again', JSON.parse(body).id, {}),
  };

  function record(tx: Queryable, what: AuditAction, id: string, changes: Record<string, unknown>) {
    return recordAudit(tx, ctx, {
      accountUuid: accountUuidOf(request),
      action: what,
      target: { type: target, id },
      ...(Object.keys(changes).length > 0 && { changes }),
    });
  }
}

export function wayOf(request: FastifyRequest): AuditWay {
  if (isDashboardCall(request)) return 'dashboard';
  // Only agents' tools call operations inside the process. Such a call has no socket, and no header can imitate that.
  return request.raw.socket instanceof Socket ? 'api' : 'agent';
}

function targetIdOf({ params, rendered, id: requestId }: FastifyRequest): string {
  const named = Object.values(params as Record<string, string>).at(-1);
  return named ?? (rendered as { id?: string } | null)?.id ?? requestId;
}

/** An operator's operation on an account names it in its path. */
function accountUuidOf({ account, params }: FastifyRequest): string | null {
  const { id = '' } = params as Record<string, string>;
  return account?.uuid ?? uuidOfId(idPrefixes.account, id);
}
