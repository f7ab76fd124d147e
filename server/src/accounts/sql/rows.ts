import type { Scope } from '@simplane/contract';

export type AccountStatus = 'active' | 'suspended';

export type AccountRow = {
  id: string;
  name: string;
  api_version: string;
  status: AccountStatus;
  /** Null limits are those of the deployment. */
  max_webhook_endpoints: number | null;
  max_open_executions: number | null;
  requests_per_second: number | null;
  created_at: Date;
};

export type ApiKeyRow = {
  id: string;
  /** Null for an operator's key. */
  account_id: string | null;
  name: string;
  scopes: Scope[];
  last4: string;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
};

export const accountColumns = `id, name, api_version, status, max_webhook_endpoints, max_open_executions, requests_per_second,
  created_at`;

export const keyColumns =
  'id, account_id, name, scopes, last4, created_at, expires_at, revoked_at, last_used_at';
