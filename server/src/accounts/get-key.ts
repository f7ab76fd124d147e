import { type ApiKey, idPrefixes } from '@simplane/contract';
import { noSuch } from '../platform/app-error.ts';
import { uuidOfId } from '../platform/ids/uuid.ts';
import type { Context } from './context.ts';
import { presentKey } from './present-key.ts';
import { findKeyRow } from './sql/keys.ts';

export async function getApiKey(ctx: Context, { params }: { params: { id: string } }): Promise<ApiKey> {
  const row = await findKeyRow(ctx.db, keyIdOf(ctx.account.uuid, params.id));
  if (!row) throw noSuch('API key', params.id);
  return presentKey(row);
}

type KeyParam = 'id' | 'key_id';

/** Throws if `id` is malformed. */
export function keyIdOf(accountUuid: string, id: string, param?: KeyParam) {
  const keyUuid = uuidOfId(idPrefixes.apiKey, id);
  if (keyUuid === null) throw noSuch('API key', id, param);
  return { accountUuid, keyUuid };
}
