import { type ApiKey, idPrefixes } from '@simplane/contract';
import { unixSeconds } from '../platform/clock.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import type { ApiKeyRow } from './sql/keys.ts';

/** A key as its account sees it, without the operator's key that created it. */
export function presentKey(row: ApiKeyRow): ApiKey {
  const key = presentKeyForOperator(row);
  const { created_by: by } = key;
  return by?.type === 'operator' ? { ...key, created_by: { ...by, id: null, name: null } } : key;
}

export function presentKeyForOperator(row: ApiKeyRow): ApiKey {
  return {
    id: idOfUuid(idPrefixes.apiKey, row.id),
    object: 'api_key',
    ...settingsOf(row),
    last4: row.last4,
    created: unixSeconds(row.created_at),
    created_by: row.created_by,
    last_used_at: row.last_used_at && unixSeconds(row.last_used_at),
    revoked_at: row.revoked_at && unixSeconds(row.revoked_at),
  };
}

/** The fields that a PATCH can change. */
export function settingsOf(row: ApiKeyRow) {
  return {
    name: row.name,
    scopes: row.scopes,
    allowed_cidrs: row.allowed_cidrs,
    expires_at: row.expires_at && unixSeconds(row.expires_at),
  };
}
