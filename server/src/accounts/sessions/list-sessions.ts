import { type InputFor, idPrefixes, type Session } from '@simplane/contract';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { readPageById } from '../../platform/lists/read-page.ts';
import type { Context, OperatorContext } from '../context.ts';
import { listSessionRows, type SessionRow } from './sql.ts';

type Query = InputFor<'listSessions'>['query'];

export function listSessions(ctx: Context, { query }: { query: Query }) {
  return readSessions(ctx, query, { uuid: ctx.account.uuid, id: ctx.account.id });
}

/** `GET /v1/operator/sessions`: those of operators' keys. */
export function listOperatorSessions(ctx: OperatorContext, { query }: { query: Query }) {
  return readSessions(ctx, query, { uuid: null, id: '' });
}

function readSessions(
  { db, clock }: OperatorContext,
  query: Query,
  account: { uuid: string | null; id: string },
) {
  const now = new Date(clock.nowMs());
  return readPageById(query, {
    scope: { list: 'sessions', accountId: account.id, filters: {} },
    read: (beforeUuid, count) => listSessionRows(db, account.uuid, now, beforeUuid, count),
    present,
  });
}

function present(row: SessionRow): Session {
  return {
    id: idOfUuid(idPrefixes.session, row.id),
    object: 'session',
    api_key: { id: idOfUuid(idPrefixes.apiKey, row.key_id), name: row.key_name, last4: row.last4 },
    ip: row.ip,
    user_agent: row.user_agent,
    created: unixSeconds(row.created_at),
    expires_at: unixSeconds(row.expires_at),
  };
}
