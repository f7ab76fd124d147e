import type { Queryable } from '../db/database.ts';

/** The mode this database belongs to: the given one when it had none yet. */
export async function claimMode(db: Queryable, mode: string): Promise<string> {
  await db.query(
    {
      name: 'deployment_claim',
      text: 'insert into deployment_mode (mode) values ($1) on conflict do nothing',
    },
    [mode],
  );
  const [row] = await db.query<{ mode: string }>({
    name: 'deployment_mode',
    text: 'select mode from deployment_mode',
  });
  return row?.mode as string;
}
