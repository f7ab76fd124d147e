import type { Queryable } from '../../../../platform/db/database.ts';

/** Never postpones; an attempt in progress continues. Returns false if the delivery has ended. */
export async function makeDue(tx: Queryable, accountUuid: string, uuid: string): Promise<boolean> {
  const rows = await tx.query(
    {
      name: 'delivery_make_due',
      text: `
update delivery_queue
set due_at = least(due_at, now())
where account_id = $1 and id = $2
returning 1`,
    },
    [accountUuid, uuid],
  );
  return rows.length > 0;
}
