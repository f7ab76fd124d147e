import type { WriteContext } from '../../../accounts/context.ts';
import type { Outcome } from '../../../platform/idempotency/outcome.ts';
import { runOnce } from '../../../platform/idempotency/run-once.ts';
import { noSuchConsumer } from './find-consumer.ts';
import { deleteConsumerRow } from './sql.ts';

export function deleteEventConsumer(
  ctx: WriteContext,
  { params: { name } }: { params: { name: string } },
): Promise<Outcome> {
  return runOnce(ctx, async (tx) => {
    if (!(await deleteConsumerRow(tx, ctx.account.uuid, name))) throw noSuchConsumer(name);
    return ctx.render({ name, object: 'event_consumer', deleted: true });
  });
}
