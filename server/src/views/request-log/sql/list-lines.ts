import { type ErrorCode, errors } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';
import { type CreatedRange, idRangeOf } from '../../../platform/lists/created-range.ts';
import { type LineRow, lineColumns, withKeys } from './line-row.ts';

type Filter = {
  /** A status, or a class such as `4xx`. */
  status?: string | undefined;
  errorCode?: ErrorCode | undefined;
  operation?: string | undefined;
  created?: CreatedRange | undefined;
};
type Page = { beforeUuid: string | null; count: number };

/**
 * Newest first. A filter finds the pairs of status and operation, or of error and operation, that occur, reads a page of each and
 * merges them. They are few, so one index serves several filters.
 */
export function listLines(
  db: Queryable,
  accountUuid: string,
  filter: Filter,
  page: Page,
): Promise<LineRow[]> {
  const { fromUuid, beforeUuid } = idRangeOf(filter.created, page.beforeUuid);
  const values = [accountUuid, beforeUuid, fromUuid, page.count];
  const { status, errorCode, operation } = filter;
  const statuses = rangeOf(status);
  if (errorCode !== undefined) {
    const { status: own } = errors[errorCode];
    if (own < statuses.first || own > statuses.last) return Promise.resolve([]);
    return db.query(byError, [...values, errorCode, errorCode, operation ?? null]);
  }
  if (status === undefined && operation === undefined) return db.query(all, values);
  return db.query(byStatus, [...values, statuses.first, statuses.last, operation ?? null]);
}

function rangeOf(status: string | undefined): { first: number; last: number } {
  if (status === undefined) return { first: 0, last: 999 };
  return { first: Number(status.replace('xx', '00')), last: Number(status.replace('xx', '99')) };
}

const all = {
  name: 'request_log_list',
  text: withKeys(`
select ${lineColumns}
from request_log
where account_id = $1 and id < $2 and id >= $3
order by id desc
limit $4`),
};

const byStatus = { name: 'request_log_list_by_status', text: merged('status', '') };

// Not null is implied, but the partial index requires it.
const byError = {
  name: 'request_log_list_by_error',
  text: merged('error_code', 'and error_code is not null'),
};

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
where $7::text is null or pairs.operation = $7
order by one.id desc
limit $4`);
}
