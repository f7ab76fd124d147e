import type { Queryable } from '../../db/database.ts';
import { hasPendingDelivery } from '../../events/has-pending-delivery.ts';

// Ids begin with their millisecond, so the oldest rows are at the start of each account's index range.
const tables = {
  // A pending delivery and its event are never purged.
  events: { id: 'id', condition: `and not ${hasPendingDelivery}` },
  deliveries: { id: 'id', condition: '' },
  recoveries: { id: 'id', condition: 'and finished_at is not null' },
  delivery_attempts: {
    id: 'delivery_id',
    condition: `and not exists (
      select from delivery_queue
      where account_id = delivery_attempts.account_id and id = delivery_attempts.delivery_id
      offset 0)`,
  },
  request_log: { id: 'id', condition: '' },
} as const;

type KeptTable = keyof typeof tables;

/** The tables that `SIMPLANE_RETENTION` is for. */
export const keptTables = ['events', 'deliveries', 'recoveries', 'delivery_attempts'] as const;

/** Deletes at most `count` of an account's rows with ids before `thanUuid`. Returns how many. */
export async function deleteOlder(
  db: Queryable,
  table: KeptTable,
  older: { accountUuid: string; thanUuid: string; count: number },
): Promise<number> {
  const { id, condition } = tables[table];
  const rows = await db.query(
    {
      name: `retention_${table}`,
      text: `
delete from ${table}
where ctid = any(array(
  select ctid
  from ${table}
  where account_id = $1 and ${id} < $2 ${condition}
  order by ${id}
  limit $3))
returning 1`,
    },
    [older.accountUuid, older.thanUuid, older.count],
  );
  return rows.length;
}
