import type { Queryable } from '../../db/database.ts';

/** Returns the database's mode; sets it to `mode` if it has none yet. */
export async function claimMode(db: Queryable, mode: string): Promise<string> {
  await db.query(
    {
      name: 'deployment_claim',
      text: `
insert into deployment_mode (mode)
values ($1)
on conflict do nothing`,
    },
    [mode],
  );
  const [row] = await db.query<{ mode: string }>({
    name: 'deployment_mode',
    text: `
select mode
from deployment_mode`,
  });
  return row?.mode as string;
}
