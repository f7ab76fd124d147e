import type { SealedColumn } from '../sealed-columns.ts';

/** The primary key of a row as text, in column order. */
export type RowKey = string[];

export function parameters(key: SealedColumn['key'], first: number): string {
  return key.map(({ type }, index) => `$${first + index}::${type}`).join(', ');
}

export function textsOf(key: SealedColumn['key']): string {
  return key.map(({ name }) => `${name}::text`).join(', ');
}
