import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import { allAccounts, type Stage } from '../stages.ts';

export type Count = {
  accountUuid: string;
  hour: Date;
  stage: Stage;
  /** Empty if the stage was reached. */
  code: string;
  bucket: number;
  count: number;
};

const given = rowsOf<Count>({
  account_id: column.uuid((row) => row.accountUuid),
  hour: column.timestamptz((row) => row.hour),
  stage: column.text((row) => row.stage),
  code: column.text((row) => row.code),
  bucket: column.integer((row) => row.bucket),
  count: column.bigint((row) => row.count),
});

/** Adds to the counts of the accounts and of all accounts. Always in the same order, so that two processes never deadlock. */
export async function addCounts(tx: Queryable, counts: Count[]): Promise<void> {
  await tx.query(
    {
      name: 'overview_add_counts',
      text: `
insert into order_counts as stored (account_id, hour, stage, code, bucket, count)
select account_id, hour, stage, code, bucket, sum(count)
from (
  select account_id, hour, stage, code, bucket, count
  from ${given.table} given
  union all
  select '${allAccounts}', hour, stage, code, bucket, count
  from ${given.table} given
) counted
group by account_id, hour, stage, code, bucket
order by account_id, hour, stage, code, bucket
on conflict (account_id, hour, stage, code, bucket) do update
set count = stored.count + excluded.count`,
    },
    given.values(counts),
  );
}
