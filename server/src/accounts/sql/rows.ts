import type { Scope } from '@simplane/contract';

export type AccountRow = { id: string; name: string; api_version: string; created_at: Date };

export type ApiKeyRow = {
  id: string;
  account_id: string;
  name: string;
  scopes: Scope[];
  last4: string;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
};

export const accountColumns = 'id, name, api_version, created_at';

export const keyColumns =
  'id, account_id, name, scopes, last4, created_at, expires_at, revoked_at, last_used_at';
