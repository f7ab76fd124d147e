import type { Queryable } from '../db/database.ts';
import { findSealingState } from './sql.ts';

/**
 * Whether values that are bound to no place are refused, which is so once `reseal` has rewritten the last of them. Asked of the
 * database for every such value until then, so that it holds at once in every process; never asked again after that.
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
