import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** When everything is healed and quiet no work is left: no order under way, no delivery due, no lease, no open recovery. */
export function nothingIsStuck({ stuck }: History): Violation[] {
  return stuck.map(({ table, id, why }) => ({ about: [id], what: `a row of ${table} is stuck: ${why}` }));
}
