import type { Queryable } from '../../../platform/db/database.ts';

export async function nextIccidBlock(db: Queryable): Promise<number> {
  const [row] = await db.query<{ block: number }>({
    name: 'iccid_block',
    text: `select nextval('iccid_blocks') as block`,
  });
  return row?.block as number;
}
