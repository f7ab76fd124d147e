import type { TestService } from './service.ts';

export async function countExecutions({ db }: Pick<TestService, 'db'>): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: 'test_count',
    text: 'select (select count(*) from executions) + (select count(*) from execution_queue) as count',
  });
  return row?.count ?? 0;
}
