import { recordAudit } from '../audit/record.ts';
import type { Clock } from '../clock.ts';
import type { ApiKey, Origin } from '../context.ts';
import type { Database } from '../db/database.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { insertSession } from './sql/insert-session.ts';
import { spendLink } from './sql/spend-link.ts';
import { hashOfToken, newToken } from './token.ts';

const hourMs = 3_600_000;

/** How long a session lasts. An operator's key reaches every account, so its sessions are shorter. */
export function sessionMs({ scopes }: Pick<ApiKey, 'scopes'>): number {
  return (scopes.includes('operator') ? 8 : 12) * hourMs;
}

type Signed = { account: { uuid: string } | null; apiKey: ApiKey };
type Deps = Omit<Origin, 'apiKey'> & { clock: Clock; newUuid: NewUuid };
type StartedSession = { token: string };

/** Signs in with a key, and spends the link that was used. Null if the link was already spent. */
export function startSession(
  db: Database,
  deps: Deps,
  { account, apiKey }: Signed,
  link?: string,
): Promise<StartedSession | null> {
  const token = newToken();
  const nowMs = deps.clock.nowMs();
  const expiresAt = new Date(nowMs + sessionMs(apiKey));
  return db.transaction(async (tx) => {
    if (link !== undefined && !(await spendLink(tx, hashOfToken(link)))) return null;
    const row = { hash: hashOfToken(token), keyUuid: apiKey.uuid, createdAt: new Date(nowMs), expiresAt };
    await insertSession(tx, row);
    await recordAudit(
      tx,
      { ...deps, apiKey },
      {
        accountUuid: account?.uuid ?? null,
        action: 'session.started',
        target: { type: 'api_key', id: apiKey.id },
      },
    );
    return { token };
  });
}
