import type { Queryable } from '../../../../platform/db/database.ts';
import { type ConsumerRow, consumerColumns } from './consumer-row.ts';

export async function findConsumerRow(
  db: Queryable,
  accountUuid: string,
  name: string,
): Promise<ConsumerRow | null> {
  const [row] = await db.query<ConsumerRow>(
    {
      name: 'consumer_find',
      text: `
select ${consumerColumns}
from event_consumers c
where c.account_id = $1 and c.name = $2`,
    },
    [accountUuid, name],
  );
  return row ?? null;
}
