import type { Queryable } from '../db/database.ts';
import { findSealingState } from './sql.ts';

/**
 * Whether values in the old format, not bound to a place, are refused: true once `reseal` has rewritten all of them. Until then,
 * every such value queries the database, so that the change takes effect in all processes at once.
 */
export function createOldFormCheck(db: Queryable): () => Promise<boolean> {
  let isRefused = false;
  return async () => {
    if (!isRefused) {
      const state = await findSealingState(db);
      isRefused = state === null || state.old_form_refused_at !== null;
    }
    return isRefused;
  };
}
