import { idPrefixes, type Scope } from '@simplane/contract';
import type { Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/db/database.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import type { NewUuid } from '../platform/ids/uuid-v7.ts';
import { generateApiKey, type Mode } from './api-key-text.ts';
import { actorOf, recordAudit } from './audit/record.ts';
import type { Origin } from './context.ts';
import { settingsOf } from './present-key.ts';
import type { ApiKeyRow } from './sql/keys.ts';
import { storeKey } from './store-key.ts';

/** Who issues, rolls or revokes a key: a request, or the server's command line. */
export type KeyIssuer = Origin & { clock: Clock; newUuid: NewUuid; mode: Mode };

export type KeyWanted = {
  accountUuid: string | null;
  name: string;
  scopes: Scope[];
  expiresAt: Date | null;
  allowedCidrs: string[];
};

export type IssuedKey = { row: ApiKeyRow; key: string };

export const defaultKeyName = 'API key';

/** Creates a key and its audit entry. */
export async function issueKey(tx: Queryable, issuer: KeyIssuer, wanted: KeyWanted): Promise<IssuedKey> {
  const issued = await insertNewKey(tx, issuer, wanted);
  await recordAudit(tx, issuer, {
    accountUuid: wanted.accountUuid,
    action: 'api_key.created',
    target: { type: 'api_key', id: idOfUuid(idPrefixes.apiKey, issued.row.id) },
    changes: settingsOf(issued.row),
  });
  return issued;
}

/** The key itself is known only to the caller, because only its hash is stored. */
export async function insertNewKey(tx: Queryable, issuer: KeyIssuer, wanted: KeyWanted): Promise<IssuedKey> {
  const key = generateApiKey(issuer.mode);
  const row = await storeKey(tx, issuer, { ...wanted, key, createdBy: actorOf(issuer) });
  return { row, key };
}
