import type { Queryable } from '../../../../platform/db/database.ts';
import { type ConsumerRow, consumerColumns } from './consumer-row.ts';

/** In the order of their names. */
export function listConsumerRows(
  db: Queryable,
  accountUuid: string,
  { afterName, count }: { afterName: string | null; count: number },
): Promise<ConsumerRow[]> {
  return db.query(
    {
      name: 'consumer_list',
      text: `
select ${consumerColumns}
from event_consumers c
where c.account_id = $1 and c.name > $2
order by c.name
limit $3`,
    },
    [accountUuid, afterName ?? '', count],
  );
}
