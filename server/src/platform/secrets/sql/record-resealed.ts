import type { Queryable } from '../../db/database.ts';

/** Records a complete pass: all secrets are sealed with this key only, and the old format is refused from now on. */
export async function recordResealed(db: Queryable, keyId: string): Promise<void> {
  await db.query(
    {
      name: 'sealing_record',
      text: `
with unneeded as (
  delete from sealing_keys
  where id <> $1
)
update sealing
set old_form_refused_at = coalesce(old_form_refused_at, now()),
    resealed_at = now(),
    resealed_key_id = $1`,
    },
    [keyId],
  );
}
