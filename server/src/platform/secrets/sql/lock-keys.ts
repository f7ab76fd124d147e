import type { Queryable } from '../../db/database.ts';

/** Processes that record a key take turns, so that two with different keys cannot both find the register empty. */
export async function lockSealingKeys(tx: Queryable): Promise<void> {
  await tx.query({
    name: 'sealing_keys_lock',
    text: 'lock table sealing_keys in share row exclusive mode',
  });
}
