import type { Queryable } from '../../../platform/db/database.ts';
import type { NewExecution } from './accept.ts';

type Row = Omit<NewExecution, 'claim' | 'answer' | 'audit'> & {
  iccid: string | null;
  /** Steps that are already done. */
  progress?: object;
};

/** For orders that are validated first: inserted in the same transaction. */
export async function insertExecution(tx: Queryable, row: Row): Promise<void> {
  await tx.query(
    {
      name: 'execution_insert',
      text: `
insert into execution_queue (account_id, id, type, product_id, iccid, input, created_at, progress)
values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    },
    [
      row.accountUuid,
      row.uuid,
      row.type,
      row.productId,
      row.iccid,
      JSON.stringify(row.input),
      row.createdAt,
      JSON.stringify(row.progress ?? {}),
    ],
  );
}
