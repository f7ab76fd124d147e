import type { ApiKey, Scope } from '@simplane/contract';

type AccountStatus = 'active' | 'suspended';

/** Null limits are those of the deployment. */
export type AccountLimits = {
  max_webhook_endpoints: number | null;
  max_open_executions: number | null;
  requests_per_second: number | null;
};

export type AccountRow = AccountLimits & {
  id: string;
  name: string;
  api_version: string;
  status: AccountStatus;
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
  allowed_cidrs: string[];
  created_by: ApiKey['created_by'];
  /** The key that was made by rolling this one. */
  replaced_by: string | null;
};

/** `accountUuid` is null for an operator's key. */
export type KeyId = { accountUuid: string | null; keyUuid: string };

export const accountColumns = `id, name, api_version, status, max_webhook_endpoints, max_open_executions, requests_per_second,
  created_at`;

export const keyColumns = `id, account_id, name, scopes, last4, created_at, expires_at, revoked_at, last_used_at, allowed_cidrs,
  created_by, replaced_by`;
