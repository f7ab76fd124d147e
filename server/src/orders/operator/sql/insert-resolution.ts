import type { Queryable } from '../../../platform/db/database.ts';
import type { ResolutionRow } from './rows.ts';

type NewResolution = Pick<ResolutionRow, 'outcome' | 'action' | 'iccid' | 'decided_by'> & {
  accountUuid: string;
  executionUuid: string;
  at: Date;
};

/** Only a cancellation leaves work to do. */
export async function insertResolution(tx: Queryable, row: NewResolution): Promise<void> {
  await tx.query(
    {
      name: 'execution_insert_resolution',
      text: `
insert into execution_resolutions
  (account_id, execution_id, outcome, action, iccid, decided_by, decided_at, closed_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    },
    [
      row.accountUuid,
      row.executionUuid,
      row.outcome,
      row.action,
      row.iccid,
      JSON.stringify(row.decided_by),
      row.at,
      row.action === 'cancel' ? null : row.at,
    ],
  );
}
