import type { Queryable } from '../../../../platform/db/database.ts';

export async function deleteConsumerRow(db: Queryable, accountUuid: string, name: string): Promise<boolean> {
  const rows = await db.query(
    {
      name: 'consumer_delete',
      text: `
delete from event_consumers
where account_id = $1 and name = $2
returning 1`,
    },
    [accountUuid, name],
  );
  return rows.length > 0;
}
