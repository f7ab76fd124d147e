import type { Queryable } from '../../db/database.ts';

export async function startWork(tx: Queryable): Promise<void> {
  await tx.query({ name: 'idempotency_start_work', text: 'savepoint work' });
}

export async function rollBackWork(tx: Queryable): Promise<void> {
  await tx.query({ name: 'idempotency_roll_back_work', text: 'rollback to savepoint work' });
}
