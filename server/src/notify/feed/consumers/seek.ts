import type { InputOf, Operations } from '@simplane/contract';
import type { WriteContext } from '../../../accounts/context.ts';
import type { Outcome } from '../../../platform/idempotency/outcome.ts';
import { runOnce } from '../../../platform/idempotency/run-once.ts';
import { findPlace } from '../find-place.ts';
import { findConsumer, noSuchConsumer } from './find-consumer.ts';
import { presentConsumer } from './present.ts';
import { moveConsumer } from './sql.ts';

/** Moves a consumer to any place, also out of one that has expired. */
export function seekEventConsumer(
  ctx: WriteContext,
  { params: { name }, body }: InputOf<Operations['seekEventConsumer']>,
): Promise<Outcome> {
  return runOnce(ctx, async (tx) => {
    const feed = { db: tx, account: ctx.account };
    const place = await findPlace(feed, body.after);
    if (!(await moveConsumer(tx, { accountUuid: ctx.account.uuid, name, place }))) throw noSuchConsumer(name);
    ctx.describe({ after: body.after });
    return ctx.render(presentConsumer(ctx.account.id, await findConsumer(feed, name)));
  });
}
