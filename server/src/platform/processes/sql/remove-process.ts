import type { Queryable } from '../../db/database.ts';

export async function removeProcess(db: Queryable, uuid: string): Promise<void> {
  await db.query(
    {
      name: 'process_remove',
      text: `
delete from processes
where id = $1`,
    },
    [uuid],
  );
}
