import type { Queryable } from '../../../platform/db/database.ts';

/** The hash of the key that a link signs in with; null if the link was used, has expired or never existed. */
export async function findLink(db: Queryable, hash: Buffer, now: Date): Promise<string | null> {
  const [row] = await db.query<{ key_hash: string }>(
    {
      name: 'link_find',
      text: `
select encode(k.hash, 'hex') as key_hash
from dashboard_links l
join api_keys k on k.id = l.key_id
where l.hash = $1 and l.expires_at > $2`,
    },
    [hash, now],
  );
  return row?.key_hash ?? null;
}
