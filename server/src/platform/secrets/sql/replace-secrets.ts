import type { Queryable } from '../../db/database.ts';
import { column, rowsOf } from '../../db/rows.ts';
import type { SealedColumn } from '../sealed-columns.ts';
import type { RowKey } from './key-columns.ts';

type Change = { key: RowKey; stored: string; sealed: string | null };

/** Replaces values that have not changed since they were read; null deletes. Returns the number of changed rows. */
export async function replaceSecrets(
  tx: Queryable,
  { id, table, key, value, set }: SealedColumn,
  changes: Change[],
): Promise<number> {
  const keys = key.map(({ type }, index) => [
    `key_${index}`,
    column[type]((change: Change) => change.key[index] ?? null),
  ]);
  const given = rowsOf<Change>({
    ...Object.fromEntries(keys),
    old_value: column.text((change) => change.stored),
    new_value: column.text((change) => change.sealed),
  });
  const rows = await tx.query(
    {
      name: `sealing_replace_${id}`,
      text: `
update ${table}
set ${set}
from ${given.table} given
where ${key.map(({ name }, index) => `${table}.${name} = given.key_${index}`).join(' and ')}
  and ${value} = given.old_value
returning 1`,
    },
    given.values(changes),
  );
  return rows.length;
}
