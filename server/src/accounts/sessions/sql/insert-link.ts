import type { Queryable } from '../../../platform/db/database.ts';

type NewLink = { hash: Buffer; keyUuid: string; expiresAt: Date };

/** Returns the account of the link's key; null for an operator's. */
export async function insertLink(db: Queryable, link: NewLink): Promise<string | null> {
  const [row] = await db.query<{ account_id: string | null }>(
    {
      name: 'link_insert',
      text: `
insert into dashboard_links (hash, key_id, expires_at)
values ($1, $2, $3)
returning (select account_id from api_keys where id = key_id)`,
    },
    [link.hash, link.keyUuid, link.expiresAt],
  );
  return row?.account_id ?? null;
}
