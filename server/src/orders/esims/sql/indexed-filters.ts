import type { Queryable } from '../../../platform/db/database.ts';
import { pageOfValue } from '../../../platform/lists/keyset.ts';

/** A filter with an index: the value of a column, or a pair of the metadata. */
export type IndexedFilter =
  | { column: 'status' | 'product_id' | 'eid'; value: string }
  | { key: string; value: string };

type Parameter = (value: unknown) => string;
export type Range = { accountUuid: string; beforeUuid: string; fromUuid: string | undefined };

export function nameOf(filter: IndexedFilter): string {
  return 'column' in filter ? filter.column : 'pair';
}

/** SQL: the rows with this value, newest first, as a range of its index. `$1` is the account, `$2` the id after the range. */
export function rowsOf(filter: IndexedFilter, parameter: Parameter, from: string | undefined) {
  if ('column' in filter) {
    const { column } = filter;
    const { condition, order } = pageOfValue(column, parameter(filter.value), from);
    // Not null is implied, but the partial index of EIDs requires it.
    return { from: `esims where account_id = $1 and ${condition} and ${column} is not null`, order };
  }
  const pair = `key = ${parameter(filter.key)} and value = ${parameter(filter.value)}`;
  const inRange = `esim_id < $2 ${from === undefined ? '' : `and esim_id >= ${from}`}`;
  return { from: `esim_metadata where account_id = $1 and ${pair} and ${inRange}`, order: 'esim_id desc' };
}

/** The filter with the fewest rows. `hasMany`: all have `limit` or more. */
export async function findRarest(
  db: Queryable,
  range: Range,
  filters: IndexedFilter[],
  limit: number,
): Promise<{ rarest: IndexedFilter | undefined; hasMany: boolean }> {
  const counts = await countRows(db, range, filters, limit);
  const fewest = Math.min(...counts);
  return { rarest: filters[counts.indexOf(fewest)], hasMany: fewest === limit };
}

async function countRows(
  db: Queryable,
  { accountUuid, beforeUuid, fromUuid }: Range,
  filters: IndexedFilter[],
  limit: number,
): Promise<number[]> {
  const values: unknown[] = [accountUuid, beforeUuid, limit];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const lowest = fromUuid === undefined ? undefined : parameter(fromUuid);
  const counts = filters.map((filter) => {
    const { from, order } = rowsOf(filter, parameter, lowest);
    return `(select count(*) from (select from ${from} order by ${order} limit $3) counted)`;
  });
  const kinds = [...filters.map(nameOf), ...(lowest === undefined ? [] : ['created'])];
  const [row] = await db.query<{ counts: number[] }>(
    {
      name: `esim_count_${kinds.join('_')}`,
      text: `select array[${counts.join(', ')}]::integer[] as counts`,
    },
    values,
  );
  return row?.counts ?? [];
}
