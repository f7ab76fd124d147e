import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';

export type Progress = { accountUuid: string; position: number; countedTo: Date };

const given = rowsOf<Progress>({
  account_id: column.uuid((row) => row.accountUuid),
  position: column.bigint((row) => row.position),
  counted_to: column.timestamptz((row) => row.countedTo),
});

/** The caller holds the accounts' locks. */
export async function advanceCounted(tx: Queryable, progress: Progress[]): Promise<void> {
  await tx.query(
    {
      name: 'overview_advance_counted',
      text: `
update counted_events counted
set position = given.position,
    counted_to = given.counted_to
from ${given.table} given
where counted.account_id = given.account_id`,
    },
    given.values(progress),
  );
}
