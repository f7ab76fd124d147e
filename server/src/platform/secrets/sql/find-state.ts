import type { Queryable } from '../../db/database.ts';

export type SealingState = {
  old_form_refused_at: Date | null;
  resealed_at: Date | null;
  resealed_key_id: string | null;
};

export async function findSealingState(db: Queryable): Promise<SealingState | null> {
  const [row] = await db.query<SealingState>({
    name: 'sealing_find',
    text: `
select old_form_refused_at, resealed_at, resealed_key_id
from sealing`,
  });
  return row ?? null;
}
