import type { Queryable } from '../../platform/db/database.ts';
import { column, rowsOf } from '../../platform/db/rows.ts';

type Use = { uuid: string; usedAt: Date };

const given = rowsOf<Use>({
  id: column.uuid((use) => use.uuid),
  used_at: column.timestamptz((use) => use.usedAt),
});

/** `greatest` keeps the latest time when several processes report the same key out of order. */
export async function touchKeys(db: Queryable, uses: Use[]): Promise<void> {
  await db.query(
    {
      name: 'api_key_touch',
      text: `
update api_keys k
set last_used_at = greatest(k.last_used_at, used.used_at)
from (
  select *
  from ${given.table} given
  order by id
) used
where k.id = used.id`,
    },
    given.values(uses),
  );
}
