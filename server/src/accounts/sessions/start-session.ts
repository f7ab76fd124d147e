import { idPrefixes, maxUserAgentLength } from '@simplane/contract';
import type { Cell } from '../../platform/cell.ts';
import type { Database } from '../../platform/db/database.ts';
import { idOfUuid, uuidText } from '../../platform/ids/uuid.ts';
import type { TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { recordAudit } from '../audit/record.ts';
import type { ApiKey, Origin } from '../context.ts';
import { insertSession, spendLink } from './sql.ts';
import { hashOfToken, newToken } from './token.ts';

const hourMs = 3_600_000;

/** How long a session lasts. An operator's key reaches every account, so its sessions are shorter. */
export function sessionMs({ scopes }: Pick<ApiKey, 'scopes'>): number {
  return (scopes.includes('operator') ? 8 : 12) * hourMs;
}

type Signed = { account: { uuid: string } | null; apiKey: ApiKey; expiresAtMs: number | null };
type Deps = Omit<Origin, 'apiKey'> & TimeAndIds & { cell: Cell };
type Wanted = { userAgent: string | undefined; link?: string | undefined };
type StartedSession = { token: string; lastsMs: number };

/** Signs in with a key, and spends the link that was used. It ends with its key at the latest. Null if the link was already spent. */
export function startSession(
  db: Database,
  deps: Deps,
  { account, apiKey, expiresAtMs }: Signed,
  { userAgent, link }: Wanted,
): Promise<StartedSession | null> {
  const token = newToken(deps.cell);
  const nowMs = deps.clock.nowMs();
  const lastsMs = Math.min(sessionMs(apiKey), (expiresAtMs ?? Number.POSITIVE_INFINITY) - nowMs);
  const row = {
    hash: hashOfToken(token),
    uuid: uuidText(deps.newUuid()),
    keyUuid: apiKey.uuid,
    createdAt: new Date(nowMs),
    expiresAt: new Date(nowMs + lastsMs),
    ip: deps.ip,
    userAgent: userAgent?.slice(0, maxUserAgentLength) ?? null,
  };
  return db.transaction(async (tx) => {
    if (link !== undefined && !(await spendLink(tx, hashOfToken(link)))) return null;
    await insertSession(tx, row);
    await recordAudit(
      tx,
      { ...deps, apiKey },
      {
        accountUuid: account?.uuid ?? null,
        action: 'session.started',
        target: { type: 'session', id: idOfUuid(idPrefixes.session, row.uuid) },
        changes: { api_key: apiKey.id },
      },
    );
    return { token, lastsMs };
  });
}
