import {
  type ErrorCode,
  errors,
  type IdempotencyResult,
  idPrefixes,
  type RequestWay,
} from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { column, rowsOf } from '../../platform/db/rows.ts';
import { many, one, run } from '../../platform/db/statement.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { type CreatedRange, idRangeOf } from '../../platform/lists/created-range.ts';
import type { IdPage } from '../../platform/lists/keyset.ts';

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

const lineColumns = `id, api_key_id, duration_ms, status, method, path, operation, error_code, error_message, error_param,
  idempotency, created_ids, ip`;

/** Adds the keys' names to rows of the log: one look-up per row of a page. */
function withKeys(lines: string): string {
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

/** A request as it is logged. All texts are bounded and free of secrets. */
export type RequestLine = {
  accountUuid: string;
  /** The `Request-Id`. */
  id: string;
  apiKeyUuid: string;
  method: string;
  path: string;
  /** Empty for what is not an operation. */
  operation: string;
  via: RequestWay;
  status: number;
  error: { code: ErrorCode; message: string; param: string | undefined } | null;
  durationMs: number;
  idempotency: IdempotencyResult | null;
  createdIds: string[];
  ip: string | null;
};

// A stream may be open for weeks.
const maxInteger = 2 ** 31 - 1;

const given = rowsOf<RequestLine>({
  account_id: column.uuid((line) => line.accountUuid),
  id: column.uuid((line) => uuidOfId(idPrefixes.request, line.id)),
  api_key_id: column.uuid((line) => line.apiKeyUuid),
  duration_ms: column.integer((line) => Math.min(Math.round(line.durationMs), maxInteger)),
  status: column.integer((line) => line.status),
  method: column.text((line) => line.method),
  path: column.text((line) => line.path),
  operation: column.text(({ via, operation }) =>
    via === 'api' || operation === '' ? operation : `${via}/${operation}`,
  ),
  error_code: column.text((line) => line.error?.code ?? null),
  error_message: column.text((line) => line.error?.message ?? null),
  error_param: column.text((line) => line.error?.param ?? null),
  idempotency: column.text((line) => line.idempotency),
  created_ids: column.text((line) => (line.createdIds.length === 0 ? null : line.createdIds.join(' '))),
  ip: column.text((line) => line.ip),
});

// Without waiting for the disk: after a crash of PostgreSQL, the lines of the last moment may be missing.
export const insertLines = run<[lines: RequestLine[]]>('request_log_insert', given.values)`
with relaxed as materialized (
  select set_config('synchronous_commit', 'off', true)
)
insert into request_log
  (account_id, id, api_key_id, duration_ms, status, method, path, operation, error_code, error_message, error_param,
    idempotency, created_ids, ip)
select account_id, id, api_key_id, duration_ms, status, method, path, operation, error_code, error_message, error_param,
  idempotency, created_ids, ip
from ${given.table} given
cross join relaxed`;

export const findLine = one<LineRow, [accountUuid: string, uuid: string]>('request_log_find')`${withKeys(`
select ${lineColumns}
from request_log
where account_id = $1 and id = $2`)}`;

type Filter = {
  /** A status, or a class such as `4xx`. */
  status?: string | undefined;
  errorCode?: ErrorCode | undefined;
  operation?: string | undefined;
  via?: RequestWay | undefined;
  created?: CreatedRange | undefined;
};
/**
 * Newest first. A filter finds the pairs of status and operation, or of error and operation, that occur, reads a page of each and
 * merges them. They are few, so one index serves several filters.
 */
export function listLines(
  db: Queryable,
  accountUuid: string,
  filter: Filter,
  page: IdPage,
): Promise<LineRow[]> {
  const { fromUuid, beforeUuid } = idRangeOf(filter.created, page.beforeUuid);
  const values = [accountUuid, beforeUuid, fromUuid, page.count];
  const { status, errorCode, operation, via } = filter;
  const statuses = rangeOf(status);
  if (errorCode !== undefined) {
    const { status: own } = errors[errorCode];
    if (own < statuses.first || own > statuses.last) return Promise.resolve([]);
    return listByError(db, ...values, errorCode, errorCode, operation ?? null, via ?? null);
  }
  if (status === undefined && operation === undefined && via === undefined) return listAll(db, ...values);
  return listByStatus(db, ...values, statuses.first, statuses.last, operation ?? null, via ?? null);
}

function rangeOf(status: string | undefined): { first: number; last: number } {
  if (status === undefined) return { first: 0, last: 999 };
  return { first: Number(status.replace('xx', '00')), last: Number(status.replace('xx', '99')) };
}

const listAll = many<LineRow, unknown[]>('request_log_list')`${withKeys(`
select ${lineColumns}
from request_log
where account_id = $1 and id < $2 and id >= $3
order by id desc
limit $4`)}`;

const listByStatus = many<LineRow, unknown[]>('request_log_list_by_status')`${merged('status', '')}`;

// Not null is implied, but the partial index requires it.
const listByError = many<LineRow, unknown[]>(
  'request_log_list_by_error',
)`${merged('error_code', 'and error_code is not null')}`;

/**
 * The operation is stored with the way in front of it, so that the indexes of a filter tell them apart: `dashboard/listEvents`. What
 * is not an operation is `/mcp`.
 */
function viaOf(operation: string): string {
  return `case when ${operation} = '' then 'agent' when ${operation} like '%/%' then split_part(${operation}, '/', 1) else 'api' end`;
}

/** Row comparisons, so that only the index with these columns fits. */
function merged(column: 'status' | 'error_code', condition: string): string {
  return withKeys(`
with recursive pairs as (
  (
    select ${column} as value, operation
    from request_log
    where account_id = $1 and ${column} >= $5 and ${column} <= $6 ${condition}
    order by ${column}, operation
    limit 1
  )
  union all
  select next.value, next.operation
  from pairs
  cross join lateral (
    select ${column} as value, operation
    from request_log
    where account_id = $1 and (${column}, operation) > (pairs.value, pairs.operation) and ${column} <= $6 ${condition}
    order by ${column}, operation
    limit 1
  ) next
)
select one.*
from pairs
cross join lateral (
  select ${lineColumns}
  from request_log
  where account_id = $1
    and (${column}, operation, id) < (pairs.value, pairs.operation, $2)
    and (${column}, operation, id) >= (pairs.value, pairs.operation, $3) ${condition}
  order by ${column} desc, operation desc, id desc
  limit $4
) one
where ($7::text is null or pairs.operation in ($7, 'dashboard/' || $7, 'agent/' || $7))
  and ($8::text is null or ${viaOf('pairs.operation')} = $8)
order by one.id desc
limit $4`);
}
