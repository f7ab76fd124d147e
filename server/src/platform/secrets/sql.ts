import type { Queryable } from '../db/database.ts';
import { column, rowsOf } from '../db/rows.ts';
import { count, exists, list, many, one, run, single, value } from '../db/statement.ts';
import type { SealedColumn } from './sealed-columns.ts';

/** The primary key of a row as text, in column order. */
export type RowKey = string[];

function parameters(key: SealedColumn['key'], first: number): string {
  return key.map(({ type }, index) => `$${first + index}::${type}`).join(', ');
}

function textsOf(key: SealedColumn['key']): string {
  return key.map(({ name }) => `${name}::text`).join(', ');
}

/** The ids of the keys that stored secrets may need. */
export const listSealingKeys = list<string>('sealing_keys_list')`
select id
from sealing_keys
order by first_used_at, id`;

/** Processes that record a key take turns, so that two with different keys cannot both find the register empty. */
export const lockSealingKeys = run('sealing_keys_lock')`lock table sealing_keys in share row exclusive mode`;

/** Must be committed before, or together with, the first secret that the key seals. */
export const recordSealingKey = run<[id: string]>('sealing_keys_record')`
insert into sealing_keys (id)
values ($1)
on conflict do nothing`;

/** Returns whether the key was in the register. */
export const forgetSealingKey = exists<[id: string]>('sealing_keys_forget')`
delete from sealing_keys
where id = $1
returning id`;

export type SealingState = {
  old_form_refused_at: Date | null;
  resealed_at: Date | null;
  resealed_key_id: string | null;
};

export const findSealingState = one<SealingState>('sealing_find')`
select old_form_refused_at, resealed_at, resealed_key_id
from sealing`;

/** Records a complete pass: all secrets are sealed with this key only, and the old format is refused from now on. */
export const recordResealed = run<[keyId: string]>('sealing_record')`
with unneeded as (
  delete from sealing_keys
  where id <> $1
)
update sealing
set old_form_refused_at = coalesce(old_form_refused_at, now()),
    resealed_at = now(),
    resealed_key_id = $1`;

/** The last key of the next `count` rows, or null if there are none. With key ranges, every page costs the same. */
export function findPageEnd(
  db: Queryable,
  { table, key }: SealedColumn,
  after: RowKey | null,
  count: number,
): Promise<RowKey | null> {
  const columns = key.map(({ name }) => name).join(', ');
  const name = `sealing_page_end_${table}${after ? '' : '_first'}`;
  return value<RowKey, unknown[]>(name)`
with page as (
  select ${columns}
  from ${table}
  ${after ? `where (${columns}) > (${parameters(key, 2)})` : ''}
  order by ${columns}
  limit $1
)
select array[${textsOf(key)}] as key
from page
order by ${key.map(({ name }) => `${name} desc`).join(', ')}
limit 1`(db, count, ...(after ?? []));
}

export type Page = { after: RowKey | null; end: RowKey };

/** The secrets of a page that do not start with this prefix. Where there is none, `starts_with` is null, and so the row is left out. */
function stale({ table, key, value, condition }: SealedColumn, { after, end }: Page, prefix: string) {
  const columns = key.map(({ name }) => name).join(', ');
  const text = `from ${table}
where (${columns}) <= (${parameters(key, 2)})
  ${after ? `and (${columns}) > (${parameters(key, 2 + key.length)})` : ''}
  and not starts_with(${value}, $1)
  ${condition ? `and ${condition}` : ''}`;
  return { text, values: [prefix, ...end, ...(after ?? [])] };
}

/** How many secrets of a page do not start with this prefix. */
export function countStale(db: Queryable, column: SealedColumn, page: Page, prefix: string): Promise<number> {
  const { text, values } = stale(column, page, prefix);
  const name = `sealing_count_${column.id}${page.after ? '' : '_first'}`;
  return single<number, unknown[]>(name)`
select count(*) as count
${text}`(db, ...values);
}

/** A stored secret that must be sealed again. `isOver`: it is no longer needed and is deleted instead. */
export type StaleSecret = { key: RowKey; stored: string; row: string; isOver: boolean };

/** Locks the stale secrets of a page, except rows locked by others. It waits for no lock, so it cannot deadlock. */
export function lockStale(
  tx: Queryable,
  column: SealedColumn,
  page: Page,
  prefix: string,
): Promise<StaleSecret[]> {
  const { text, values } = stale(column, page, prefix);
  const name = `sealing_lock_${column.id}${page.after ? '' : '_first'}`;
  return many<StaleSecret, unknown[]>(name)`
select
  array[${textsOf(column.key)}] as key,
  ${column.value} as stored,
  ${column.row} as row,
  ${column.isOver ?? 'false'} as "isOver"
${text}
for update skip locked`(tx, ...values);
}

type Change = { key: RowKey; stored: string; sealed: string | null };

/** Replaces values that have not changed since they were read; null deletes. Returns the number of changed rows. */
export function replaceSecrets(
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
  return count<unknown[]>(`sealing_replace_${id}`)`
update ${table}
set ${set}
from ${given.table} given
where ${key.map(({ name }, index) => `${table}.${name} = given.key_${index}`).join(' and ')}
  and ${value} = given.old_value
returning 1`(tx, ...given.values(changes));
}

type Sample = Pick<StaleSecret, 'key' | 'stored' | 'row'>;

/** Some of the first stored secrets of a column that can still be needed. Reads a bounded number of rows. */
export function sampleSecrets(
  db: Queryable,
  { id, table, key, value, row, condition = 'true', isOver = 'false' }: SealedColumn,
  count: number,
): Promise<Sample[]> {
  return many<Sample, [count: number]>(`sealing_sample_${id}`)`
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
limit $1`(db, count);
}
