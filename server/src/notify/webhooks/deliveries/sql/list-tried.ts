import type { AttemptOutcome } from '@simplane/contract';
import type { Queryable } from '../../../../platform/db/database.ts';
import {
  type BareRow,
  type DeliveryRow,
  historyColumns,
  queueColumns,
  withAttempts,
} from './delivery-row.ts';

// Including `$3`: attempts of that delivery may be on the next page.
const page = 'id <= $3 order by id desc limit $4';

// The account is compared outside the subquery. Inside, a plan may read the account's whole queue by the primary key.
const pending = `(select ${queueColumns} from delivery_queue where endpoint_id = $2 and attempt_count > 0 and ${page})`;

/** Each condition is that of an index, as a literal, so that a page never reads deliveries that are not on it. */
function ended(condition: string): string {
  return `(select ${historyColumns} from deliveries where account_id = $1 and endpoint_id = $2 and ${condition} and ${page})`;
}

const succeeded = ended(`status = 'succeeded'`);
const retried = ended(`status = 'succeeded' and attempt_count > 1`);
const failed = ended(`status = 'failed'`);
const canceled = ended(`status = 'canceled' and attempt_count > 0`);

const parts = {
  any: [pending, succeeded, failed, canceled],
  succeeded: [succeeded],
  failed: [pending, retried, failed, canceled],
};

/**
 * The endpoint's deliveries that have an attempt with this outcome, with all their attempts. One statement, so one snapshot: a
 * delivery that ends meanwhile is still listed exactly once.
 */
export async function listTriedDeliveries(
  db: Queryable,
  accountUuid: string,
  { endpointUuid, outcome = 'any' }: { endpointUuid: string; outcome: AttemptOutcome | 'any' | undefined },
  { fromUuid, count }: { fromUuid: string; count: number },
): Promise<DeliveryRow[]> {
  const rows = await db.query<BareRow>(
    {
      name: `delivery_list_tried_${outcome}`,
      text: `
select *
from (
  ${parts[outcome].join('\n  union all\n  ')}
) delivery
where account_id = $1
order by id desc
limit $4`,
    },
    [accountUuid, endpointUuid, fromUuid, count],
  );
  return withAttempts(db, accountUuid, rows);
}
