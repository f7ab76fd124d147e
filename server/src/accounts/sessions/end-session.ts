import { idPrefixes } from '@simplane/contract';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { recordAudit } from '../audit/record.ts';
import type { ApiKey, Author } from '../context.ts';
import { deleteExpiredSessions, deleteSessionByHash } from './sql.ts';
import { hashOfToken } from './token.ts';

type Signed = { account: { uuid: string } | null; apiKey: ApiKey };

/** Signing out. */
export function endSession(
  db: Database,
  deps: Omit<Author, 'apiKey'>,
  { account, apiKey }: Signed,
  token: string,
): Promise<void> {
  return db.transaction(async (tx) => {
    const uuid = await deleteSessionByHash(tx, hashOfToken(token));
    if (uuid === null) return;
    const id = idOfUuid(idPrefixes.session, uuid);
    await recordEnd(
      tx,
      { ...deps, apiKey },
      { accountUuid: account?.uuid ?? null, id, keyUuid: apiKey.uuid },
    );
  });
}

type Ended = { accountUuid: string | null; id: string; keyUuid: string };

export function recordEnd(tx: Queryable, deps: Author, { accountUuid, id, keyUuid }: Ended): Promise<void> {
  return recordAudit(tx, deps, {
    accountUuid,
    action: 'session.ended',
    target: { type: 'session', id },
    changes: { api_key: idOfUuid(idPrefixes.apiKey, keyUuid) },
  });
}

/** Of an account that is closed: its entry tells that its sessions and links ended. */
export { deleteSessionsOf as endSessionsOf } from './sql.ts';

/** Removes sessions and links that no longer work. */
export function removeExpired(db: Queryable, clock: Clock): Promise<void> {
  return deleteExpiredSessions(db, new Date(clock.nowMs()));
}
