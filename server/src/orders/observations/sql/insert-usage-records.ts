import type { UsageRecord } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';

const given = rowsOf<UsageRecord>({
  iccid: column.text((record) => record.iccid),
  record_id: column.text((record) => record.record_id),
  bytes: column.bigint((record) => record.bytes),
  at: column.bigint((record) => record.at),
});

/**
 * Stores records and returns the indexes of those that were stored before. The input must have no duplicates. Input sorted
 * like the primary key is faster.
 */
export async function insertUsageRecords(tx: Queryable, records: readonly UsageRecord[]): Promise<number[]> {
  const rows = await tx.query<{ index: number }>(
    {
      name: 'usage_record_insert_many',
      text: `
with given as materialized (
  select *
  from ${given.table} given
), inserted as (
  insert into usage_records (iccid, record_id, bytes, observed_at)
  select iccid, record_id, bytes, to_timestamp(at)
  from given
  order by n
  on conflict (iccid, record_id) do nothing
  returning iccid, record_id
)
select (given.n - 1)::integer as index
from given
where not exists (
  select
  from inserted
  where inserted.iccid = given.iccid and inserted.record_id = given.record_id)`,
    },
    given.values(records),
  );
  return rows.map(({ index }) => index);
}
