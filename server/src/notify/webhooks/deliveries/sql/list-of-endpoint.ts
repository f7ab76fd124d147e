import type { DeliveryStatus } from '@simplane/contract';
import type { Queryable } from '../../../../platform/db/database.ts';
import { beforeFirst } from '../../../../platform/lists/keyset.ts';
import {
  type BareRow,
  blockedColumns,
  type DeliveryRow,
  historyColumns,
  type Page,
  queueColumns,
  withAttempts,
} from './delivery-row.ts';

const page = 'id < $3 order by id desc limit $4';

// The account is compared outside the subquery. Inside, a plan may read the account's whole queue by the primary key.
const fresh = `(select ${queueColumns} from delivery_queue where endpoint_id = $2 and attempt_count = 0 and ${page})`;
const retries = `(select ${queueColumns} from delivery_queue where endpoint_id = $2 and attempt_count > 0 and ${page})`;
const blocked = `(select ${blockedColumns} from blocked_deliveries where endpoint_id = $2 and ${page})`;

/** A prepared plan can use the partial indexes only if the status is a literal. */
function ended(status: DeliveryStatus): string {
  return `(select ${historyColumns} from deliveries where account_id = $1 and endpoint_id = $2 and status = '${status}' and ${page})`;
}

const pending = [fresh, retries, blocked];

function partsOf(status: DeliveryStatus | undefined): string[] {
  if (status === undefined) return [...pending, ended('succeeded'), ended('failed'), ended('canceled')];
  return status === 'pending' ? pending : [ended(status)];
}

/** One statement, so one snapshot: a delivery that ends meanwhile is still listed exactly once. */
export async function listRowsOfEndpoint(
  db: Queryable,
  accountUuid: string,
  { endpointUuid, status }: { endpointUuid: string; status: DeliveryStatus | undefined },
  { beforeUuid, count }: Page,
): Promise<DeliveryRow[]> {
  const rows = await db.query<BareRow>(
    {
      name: `delivery_list_of_endpoint${status === undefined ? '' : `_${status}`}`,
      text: `
select *
from (
  ${partsOf(status).join('\n  union all\n  ')}
) delivery
where account_id = $1
order by id desc
limit $4`,
    },
    [accountUuid, endpointUuid, beforeUuid ?? beforeFirst, count],
  );
  return withAttempts(db, accountUuid, rows);
}
