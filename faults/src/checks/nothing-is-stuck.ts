import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** After healing, no work is left: no open order, no pending delivery, no lease, no open recovery. */
export function nothingIsStuck({ stuck }: History): Violation[] {
  return stuck.map(({ table, id, why }) => ({ about: [id], what: `a row of ${table} is stuck: ${why}` }));
}
