import type { Queryable } from '../../../platform/db/database.ts';

/** Stores an ICCID for the next order that needs one. */
export async function storeReturned(db: Queryable, iccid: string, state: 'free' | 'suspect'): Promise<void> {
  await db.query(
    {
      name: 'iccid_store_returned',
      text: `
insert into returned_iccids (iccid, is_suspect)
values ($1, $2)
on conflict (iccid) do nothing`,
    },
    [iccid, state === 'suspect'],
  );
}

/** Takes suspect ICCIDs, those that have waited longest first. */
export async function takeSuspects(
  db: Queryable,
  { lowest, highest }: { lowest: string; highest: string },
  count: number,
): Promise<string[]> {
  const rows = await db.query<{ iccid: string }>(
    {
      name: 'iccid_take_suspects',
      text: `
delete from returned_iccids
where iccid = any(array(
  select iccid
  from returned_iccids
  where iccid between $1 and $2 and is_suspect
  order by returned_at
  limit $3
  for update skip locked
))
returning iccid`,
    },
    [lowest, highest, count],
  );
  return rows.map(({ iccid }) => iccid);
}
