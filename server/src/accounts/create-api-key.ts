import type { Scope } from '@simplane/contract';
import type { Queryable } from '../db/database.ts';
import { uuidText } from '../ids/uuid.ts';
import { hashApiKey } from './api-key-text.ts';
import type { Deps } from './create-account.ts';
import { insertKey, type NewKey } from './sql/insert-key.ts';

type Wanted = {
  key: string;
  accountUuid: string | null;
  name: string;
  scopes: Scope[];
  expiresAt: Date | null;
};

export async function createApiKey(db: Queryable, { clock, newUuid }: Deps, wanted: Wanted): Promise<NewKey> {
  const row = {
    id: uuidText(newUuid()),
    account_id: wanted.accountUuid,
    hash: hashApiKey(wanted.key),
    name: wanted.name,
    scopes: wanted.scopes,
    last4: wanted.key.slice(-4),
    created_at: new Date(clock.nowMs()),
    expires_at: wanted.expiresAt,
  };
  await insertKey(db, row);
  return row;
}
