import { errors, idPrefixes, type RequestLogEntry } from '@simplane/contract';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { unixMsOf } from '../../platform/ids/uuid-range.ts';
import type { LineRow } from './sql.ts';

export function presentRequest(row: LineRow): RequestLogEntry {
  const { operation, via } = wayOf(row.operation);
  return {
    id: idOfUuid(idPrefixes.request, row.id),
    object: 'request',
    method: row.method,
    path: row.path,
    operation,
    via,
    status: row.status,
    ...(row.error_code !== null && { error: errorOf(row, row.error_code) }),
    duration_ms: row.duration_ms,
    api_key: {
      id: idOfUuid(idPrefixes.apiKey, row.api_key_id),
      name: row.key_name ?? '',
      last4: row.key_last4 ?? '',
    },
    idempotency: row.idempotency,
    created_ids: row.created_ids?.split(' ') ?? [],
    ip: row.ip,
    created: unixSeconds(new Date(unixMsOf(row.id))),
  };
}

/** A process of the release before stored no way, which is then told as `api`. */
function wayOf(stored: string): Pick<RequestLogEntry, 'operation' | 'via'> {
  if (stored === '') return { operation: null, via: 'agent' };
  const [way, operation] = stored.split('/');
  if (operation === undefined) return { operation: stored, via: 'api' };
  return { operation, via: way === 'dashboard' ? 'dashboard' : 'agent' };
}

function errorOf(row: LineRow, code: keyof typeof errors): NonNullable<RequestLogEntry['error']> {
  return {
    code,
    message: row.error_message ?? '',
    ...(row.error_param !== null && { param: row.error_param }),
    // A process of a newer release may have written a code that this one does not know.
    remedy: errors[code]?.remedy ?? '',
  };
}
