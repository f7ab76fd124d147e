import type { ErrorCode, IdempotencyResult } from '@simplane/contract';

export type LineRow = {
  id: string;
  api_key_id: string;
  key_name: string | null;
  key_last4: string | null;
  duration_ms: number;
  status: number;
  method: string;
  path: string;
  operation: string;
  error_code: ErrorCode | null;
  error_message: string | null;
  error_param: string | null;
  idempotency: IdempotencyResult | null;
  created_ids: string | null;
  ip: string | null;
};

export const lineColumns = `id, api_key_id, duration_ms, status, method, path, operation, error_code, error_message, error_param,
  idempotency, created_ids, ip`;

/** Adds the keys' names to rows of the log: one look-up per row of a page. */
export function withKeys(lines: string): string {
  return `
select line.*, key.name as key_name, key.last4 as key_last4
from (${lines}) line
left join lateral (
  select name, last4
  from api_keys
  where account_id = $1 and id = line.api_key_id
  offset 0
) key on true
order by line.id desc`;
}
