import { idPrefixes } from '@simplane/contract';
import type { Cell } from '../../platform/cell.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { recordAudit } from '../audit/record.ts';
import type { Author } from '../context.ts';
import { insertLink } from './sql.ts';
import { hashOfToken, newToken } from './token.ts';

export const linkMs = 10 * 60_000;

type Maker = Author & { cell: Cell };

/** Creates a link that signs in once with this key, and returns its path. The token is in the fragment, which no server logs. */
export async function createLink(tx: Queryable, maker: Maker, keyUuid: string): Promise<string> {
  const token = newToken(maker.cell);
  const expiresAt = new Date(maker.clock.nowMs() + linkMs);
  const accountUuid = await insertLink(tx, { hash: hashOfToken(token), keyUuid, expiresAt });
  await recordAudit(tx, maker, {
    accountUuid,
    action: 'session.link_created',
    target: { type: 'api_key', id: idOfUuid(idPrefixes.apiKey, keyUuid) },
    changes: { expires_at: expiresAt },
  });
  return `/dashboard/sign-in#link=${token}`;
}
