import type { Queryable } from '../db/database.ts';
import type { SealedColumn } from './sealed-columns.ts';

export type SealingState = {
  old_form_refused_at: Date | null;
  resealed_at: Date | null;
  resealed_key_id: string | null;
};

export async function findSealingState(db: Queryable): Promise<SealingState | null> {
  const [row] = await db.query<SealingState>({
    name: 'sealing_find',
    text: 'select old_form_refused_at, resealed_at, resealed_key_id from sealing',
  });
  return row ?? null;
}

/** Records a complete pass: all secrets are sealed with this key only, and the old format is refused from now on. */
export async function recordResealed(db: Queryable, keyId: string): Promise<void> {
  await db.query(
    {
      name: 'sealing_record',
      text: `
with unneeded as (
  delete from sealing_keys
  where id <> $1
)
update sealing
set old_form_refused_at = coalesce(old_form_refused_at, now()),
  resealed_at = now(),
  resealed_key_id = $1`,
    },
    [keyId],
  );
}

/** The primary key of a row as text, in column order. */
export type RowKey = string[];

/** A stored secret that must be sealed again. `isOver`: it is no longer needed and is deleted instead. */
export type StaleSecret = { key: RowKey; stored: string; row: string; isOver: boolean };

type Page = { after: RowKey | null; end: RowKey };

/** The last key of the next `count` rows, or null if there are none. With key ranges, every page costs the same. */
export async function findPageEnd(
  db: Queryable,
  { table, key }: SealedColumn,
  after: RowKey | null,
  count: number,
): Promise<RowKey | null> {
  const columns = key.map(({ name }) => name).join(', ');
  const [row] = await db.query<{ key: RowKey }>(
    {
      name: `sealing_page_end_${table}${after ? '' : '_first'}`,
      text: `
with page as (
  select ${columns} from ${table}
  ${after ? `where (${columns}) > (${parameters(key, 2)})` : ''}
  order by ${columns}
  limit $1
)
select array[${textsOf(key)}] as key from page order by ${key.map(({ name }) => `${name} desc`).join(', ')} limit 1`,
    },
    [count, ...(after ?? [])],
  );
  return row?.key ?? null;
}

/** How many secrets of a page do not start with this prefix. */
export async function countStale(
  db: Queryable,
  column: SealedColumn,
  page: Page,
  prefix: string,
): Promise<number> {
  const { text, values } = stale(column, page, prefix);
  const [row] = await db.query<{ count: number }>(
    {
      name: `sealing_count_${column.id}${page.after ? '' : '_first'}`,
      text: `select count(*) as count ${text}`,
    },
    values,
  );
  return row?.count ?? 0;
}

/** Locks the stale secrets of a page, except rows locked by others. It waits for no lock, so it cannot deadlock. */
export function lockStale(
  tx: Queryable,
  column: SealedColumn,
  page: Page,
  prefix: string,
): Promise<StaleSecret[]> {
  const { text, values } = stale(column, page, prefix);
  return tx.query(
    {
      name: `sealing_lock_${column.id}${page.after ? '' : '_first'}`,
      text: `select array[${textsOf(column.key)}] as key, ${column.value} as stored, ${column.row} as row,
               ${column.isOver ?? 'false'} as "isOver" ${text} for update skip locked`,
    },
    values,
  );
}

/** Some of the first stored secrets of a column that can still be needed. Reads a bounded number of rows. */
export function sampleSecrets(
  db: Queryable,
  { id, table, key, value, row, condition = 'true', isOver = 'false' }: SealedColumn,
  count: number,
): Promise<Pick<StaleSecret, 'key' | 'stored' | 'row'>[]> {
  return db.query(
    {
      name: `sealing_sample_${id}`,
      text: `
with page as (
  select *
  from ${table}
  order by ${key.map(({ name }) => name).join(', ')}
  limit 1000
)
select array[${textsOf(key)}] as key, ${value} as stored, ${row} as row
from page
where ${value} is not null
  and ${condition}
  and not (${isOver})
limit $1`,
    },
    [count],
  );
}

/** Replaces values that have not changed since they were read; null deletes. Returns the number of changed rows. */
export async function replaceSecrets(
  tx: Queryable,
  { id, table, key, value, set }: SealedColumn,
  changes: { key: RowKey; stored: string; sealed: string | null }[],
): Promise<number> {
  const names = key.map((_, index) => `key_${index}`);
  const rows = await tx.query(
    {
      name: `sealing_replace_${id}`,
      text: `
with given as (
  select * from unnest(${key.map(({ type }, index) => `$${index + 3}::${type}[]`).join(', ')}, $1::text[], $2::text[])
    as g (${names.join(', ')}, old_value, new_value)
)
update ${table} set ${set}
from given
where ${key.map(({ name }, index) => `${table}.${name} = given.key_${index}`).join(' and ')}
  and ${value} = given.old_value
returning 1`,
    },
    [
      changes.map(({ stored }) => stored),
      changes.map(({ sealed }) => sealed),
      ...key.map((_, index) => changes.map((change) => change.key[index])),
    ],
  );
  return rows.length;
}

function stale({ table, key, value, condition }: SealedColumn, { after, end }: Page, prefix: string) {
  const columns = key.map(({ name }) => name).join(', ');
  const text = `
from ${table}
where (${columns}) <= (${parameters(key, 2)})
  ${after ? `and (${columns}) > (${parameters(key, 2 + key.length)})` : ''}
  and ${value} is not null
  and not starts_with(${value}, $1)
  ${condition ? `and ${condition}` : ''}`;
  return { text, values: [prefix, ...end, ...(after ?? [])] };
}

function parameters(key: SealedColumn['key'], first: number): string {
  return key.map(({ type }, index) => `$${first + index}::${type}`).join(', ');
}

function textsOf(key: SealedColumn['key']): string {
  return key.map(({ name }) => `${name}::text`).join(', ');
}
