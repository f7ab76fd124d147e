import { idPrefixes } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import { uuidOfId } from '../../../platform/ids/uuid.ts';
import type { RequestLine } from '../request-line.ts';

export async function insertLines(db: Queryable, lines: RequestLine[]): Promise<void> {
  await db.query(insert, given.values(lines));
}

const given = rowsOf<RequestLine>({
  account_id: column.uuid((line) => line.accountUuid),
  id: column.uuid((line) => uuidOfId(idPrefixes.request, line.id)),
  api_key_id: column.uuid((line) => line.apiKeyUuid),
  duration_ms: column.integer((line) => Math.min(Math.round(line.durationMs), maxInteger)),
  status: column.integer((line) => line.status),
  method: column.text((line) => line.method),
  path: column.text((line) => line.path),
  operation: column.text((line) => line.operation),
  error_code: column.text((line) => line.error?.code ?? null),
  error_message: column.text((line) => line.error?.message ?? null),
  error_param: column.text((line) => line.error?.param ?? null),
  idempotency: column.text((line) => line.idempotency),
  created_ids: column.text((line) => (line.createdIds.length === 0 ? null : line.createdIds.join(' '))),
  ip: column.text((line) => line.ip),
});

// A stream may be open for weeks.
const maxInteger = 2 ** 31 - 1;

// Without waiting for the disk: after a crash of PostgreSQL, the lines of the last moment may be missing.
const insert = {
  name: 'request_log_insert',
  text: `
with relaxed as materialized (
  select set_config('synchronous_commit', 'off', true)
)
insert into request_log
  (account_id, id, api_key_id, duration_ms, status, method, path, operation, error_code, error_message, error_param,
    idempotency, created_ids, ip)
select account_id, id, api_key_id, duration_ms, status, method, path, operation, error_code, error_message, error_param,
  idempotency, created_ids, ip
from ${given.table} given
cross join relaxed`,
};
