import type { Scope } from '@simplane/contract';
import type { Queryable } from '../platform/db/database.ts';
import { uuidText } from '../platform/ids/uuid.ts';
import { hashApiKey } from './api-key-text.ts';
import type { Actor } from './audit/record.ts';
import { type ApiKeyRow, insertKey } from './sql/keys.ts';
import type { Deps } from './store-account.ts';

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
export async function storeKey(db: Queryable, { clock, newUuid }: Deps, wanted: Wanted): Promise<ApiKeyRow> {
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
