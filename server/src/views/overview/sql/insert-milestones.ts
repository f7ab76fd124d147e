import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import type { Stage } from '../stages.ts';

export type Milestone = { accountUuid: string; esimUuid: string; stage: Stage; reachedAt: Date | null };

const given = rowsOf<Milestone>({
  account_id: column.uuid((row) => row.accountUuid),
  esim_id: column.uuid((row) => row.esimUuid),
  stage: column.text((row) => row.stage),
  reached_at: column.timestamptz((row) => row.reachedAt),
});

/** The caller holds the accounts' locks and has read what is stored. */
export async function insertMilestones(tx: Queryable, milestones: Milestone[]): Promise<void> {
  await tx.query(
    {
      name: 'overview_insert_milestones',
      text: `
insert into esim_milestones (account_id, esim_id, stage, reached_at)
select account_id, esim_id, stage, reached_at
from ${given.table} given`,
    },
    given.values(milestones),
  );
}
