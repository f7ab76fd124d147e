import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** A delivery that was seen once is in exactly one table: the queue, the blocked ones or the history. */
export function itemsAreInOnePlace({ places, deliveries }: History): Violation[] {
  const doubled = [...places].filter(([, tables]) => tables.length > 1);
  const lost = deliveries.flat().filter(({ id }) => !places.has(id));
  return [
    ...doubled.map(([id, tables]) => ({ about: [id], what: `a delivery is in ${tables.join(' and ')}` })),
    ...lost.map(({ id, event_id }) => ({ about: [id, event_id], what: 'a delivery is no longer stored' })),
  ];
}
