import type { Execution } from '@simplane/contract';
import type { History } from '../history/history.ts';
import { bodyOf, writesOf } from '../history/writes.ts';
import type { Violation } from './violation.ts';

/** Every accepted order is in exactly one table: the queue while it is open, the history after it ends. */
export function ordersAreInOnePlace(history: History): Violation[] {
  const tablesOf = new Map<string, string[]>();
  for (const { id, table } of history.orderRows) tablesOf.set(id, [...(tablesOf.get(id) ?? []), table]);
  const accepted = writesOf(history)
    .filter(({ status, text }) => status === 202 && /"object":"execution"/.test(text))
    .map((write) => bodyOf<Execution>(write).id);
  return [...new Set([...accepted, ...tablesOf.keys()])].flatMap((id) => {
    const tables = tablesOf.get(id) ?? [];
    if (tables.length === 1) return [];
    return [{ about: [id], what: `an order is in ${tables.join(' and ') || 'no table'}` }];
  });
}
