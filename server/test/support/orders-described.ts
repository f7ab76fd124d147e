import type { TestService } from './service.ts';

/** The executions, open or ended, whose order has this description. */
export async function ordersDescribed({ db }: TestService, description: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    {
      name: 'test_orders_described',
      text: `
select id from execution_queue where input->>'description' = $1
union all
select id from executions where input->>'description' = $1`,
    },
    [description],
  );
  return rows.map(({ id }) => id);
}
