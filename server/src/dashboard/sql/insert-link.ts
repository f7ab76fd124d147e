import type { Queryable } from '../../db/database.ts';

type NewLink = { hash: Buffer; keyUuid: string; expiresAt: Date };

export async function insertLink(db: Queryable, link: NewLink): Promise<void> {
  await db.query(
    {
      name: 'link_insert',
      text: `
insert into dashboard_links (hash, key_id, expires_at)
values ($1, $2, $3)`,
    },
    [link.hash, link.keyUuid, link.expiresAt],
  );
}
