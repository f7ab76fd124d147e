import type { SealedColumn } from '../sealed-columns.ts';
import { parameters, type RowKey } from './key-columns.ts';

export type Page = { after: RowKey | null; end: RowKey };

/** The secrets of a page that do not start with this prefix. */
export function stale({ table, key, value, condition }: SealedColumn, { after, end }: Page, prefix: string) {
  const columns = key.map(({ name }) => name).join(', ');
  const text = `from ${table}
where (${columns}) <= (${parameters(key, 2)})
  ${after ? `and (${columns}) > (${parameters(key, 2 + key.length)})` : ''}
  and ${value} is not null
  and not starts_with(${value}, $1)
  ${condition ? `and ${condition}` : ''}`;
  return { text, values: [prefix, ...end, ...(after ?? [])] };
}
