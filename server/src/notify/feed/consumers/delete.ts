import type { Context } from '../../../accounts/context.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { noSuchConsumer } from './get.ts';
import { deleteConsumerRow } from './sql.ts';

export async function deleteEventConsumer(
  tx: Queryable,
  ctx: Context,
  { params: { name } }: { params: { name: string } },
) {
  if (!(await deleteConsumerRow(tx, ctx.account.uuid, name))) throw noSuchConsumer(ctx.account, name);
  return { body: { name, object: 'event_consumer', deleted: true } as const };
}
