import type { Queryable } from '../../../platform/db/database.ts';
import { type LineRow, lineColumns, withKeys } from './line-row.ts';

export async function findLine(db: Queryable, accountUuid: string, uuid: string): Promise<LineRow | null> {
  const [row] = await db.query<LineRow>(
    {
      name: 'request_log_find',
      text: withKeys(`
select ${lineColumns}
from request_log
where account_id = $1 and id = $2`),
    },
    [accountUuid, uuid],
  );
  return row ?? null;
}
