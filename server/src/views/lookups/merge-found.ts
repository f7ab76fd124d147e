import type { OperatorSearchResult, SearchType } from '@simplane/contract';
import type { Cell } from '../../platform/cell.ts';

type Found = { cell: Cell; data: readonly OperatorSearchResult[] };

// As in one cell: eSIMs, orders, what else has an id, accounts and products.
const ranks: { readonly [type in SearchType]?: number } = { esim: 0, execution: 1, account: 3, product: 4 };
const rankOf = ({ type }: OperatorSearchResult) => ranks[type] ?? 2;

/**
 * What several cells found, each object once. An account that has moved left rows behind, which say where it is; the cell that has it
 * knows more.
 */
export function mergeFound(all: readonly Found[], limit: number): OperatorSearchResult[] {
  const byIdentity = new Map<string, OperatorSearchResult>();
  for (const { cell, data } of all) {
    for (const result of data) {
      const identity = identityOf(result);
      if (!byIdentity.has(identity) || result.cell === cell) byIdentity.set(identity, result);
    }
  }
  return [...byIdentity.values()]
    .sort((a, b) => rankOf(a) - rankOf(b) || b.created - a.created || (a.id < b.id ? 1 : -1))
    .slice(0, limit);
}

/** A product belongs to a cell: another may have one of the same name. */
function identityOf({ type, id, cell, account_id: account }: OperatorSearchResult): string {
  return account === null ? `${type} ${id} ${cell ?? ''}` : `${type} ${id}`;
}
