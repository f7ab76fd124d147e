import type { TestService } from './service.ts';

export async function countExecutions({ db }: Pick<TestService, 'db'>): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: 'test_count',
    text: 'select count(*) as count from executions',
  });
  return row?.count ?? 0;
}
