import { idPrefixes, type Scope } from '@simplane/contract';
import type { Cell } from '../platform/cell.ts';
import type { Queryable } from '../platform/db/database.ts';
import { idOfUuid, uuidText } from '../platform/ids/uuid.ts';
import type { TimeAndIds } from '../platform/ids/uuid-v7.ts';
import { generateApiKey, hashApiKey, type Mode } from './api-key-text.ts';
import { type Actor, actorOf, recordAudit } from './audit/record.ts';
import type { Author } from './context.ts';
import { requireKeysChangeable, requireOpenAccount } from './get-account.ts';
import { settingsOf } from './present-key.ts';
import { type ApiKeyRow, insertKey } from './sql/keys.ts';

/** Who issues, rolls or revokes a key: a request, or the server's command line. */
export type KeyIssuer = Author & { mode: Mode; cell: Cell };

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
  await requireKeysChangeable(tx, wanted.accountUuid);
  if (wanted.accountUuid !== null) await requireOpenAccount(tx, wanted.accountUuid);
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
  const key = generateApiKey(issuer.mode, issuer.cell);
  const row = await storeKey(tx, issuer, { ...wanted, key, createdBy: actorOf(issuer) });
  return { row, key };
}

type Wanted = {
  key: string;
  accountUuid: string | null;
  name: string;
  scopes: Scope[];
  expiresAt: Date | null;
  allowedCidrs?: string[];
  /** Null for a key that the process itself creates at its start. */
  createdBy?: Actor | null;
};

/** Stores a key that the caller generated or read, without an audit entry: `issueKey` writes one. */
export async function storeKey(
  db: Queryable,
  { clock, newUuid }: TimeAndIds,
  wanted: Wanted,
): Promise<ApiKeyRow> {
  const row = {
    id: uuidText(newUuid()),
    account_id: wanted.accountUuid,
    name: wanted.name,
    scopes: wanted.scopes,
    last4: wanted.key.slice(-4),
    created_at: new Date(clock.nowMs()),
    expires_at: wanted.expiresAt,
    revoked_at: null,
    last_used_at: null,
    allowed_cidrs: wanted.allowedCidrs ?? [],
    created_by: wanted.createdBy ?? null,
    replaced_by: null,
  };
  await insertKey(db, row, hashApiKey(wanted.key));
  return row;
}
