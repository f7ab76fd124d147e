import { consumerNamePattern, type InputOf, type Operations } from '@simplane/contract';
import type { WriteContext } from '../../../accounts/context.ts';
import { AppError } from '../../../platform/app-error.ts';
import type { Outcome } from '../../../platform/idempotency/outcome.ts';
import { runOnce } from '../../../platform/idempotency/run-once.ts';
import { findPlace } from '../find-place.ts';
import { findConsumer } from './find-consumer.ts';
import { presentConsumer } from './present.ts';
import { findConsumerRow, insertConsumer } from './sql.ts';

// Far above what an account needs, which is one for each program that reads the feed.
const maxConsumers = 100;

/** Creates a consumer, or returns the one that has the name, unchanged. */
export async function putEventConsumer(
  ctx: WriteContext,
  { params, body }: InputOf<Operations['putEventConsumer']>,
): Promise<Outcome> {
  const { name } = params;
  if (!new RegExp(consumerNamePattern).test(name)) {
    throw new AppError(
      'parameter_invalid',
      'name must have 1 to 100 letters, digits, "_", "." and "-", and begin with a letter or a digit.',
      { param: 'name' },
    );
  }
  return runOnce(ctx, async (tx) => {
    const feed = { db: tx, account: ctx.account };
    const existing = await findConsumerRow(tx, ctx.account.uuid, name);
    if (existing) {
      ctx.describe(null);
      return ctx.render(presentConsumer(ctx.account.id, existing));
    }
    const consumer = {
      accountUuid: ctx.account.uuid,
      name,
      place: await findPlace(feed, body.after ?? 'now'),
      types: body.type ?? null,
      createdAt: new Date(ctx.clock.nowMs()),
    };
    if (!(await insertConsumer(tx, consumer, maxConsumers))) throw limitReached();
    return ctx.render(presentConsumer(ctx.account.id, await findConsumer(feed, name)));
  });
}

function limitReached(): AppError {
  return new AppError(
    'consumer_limit_reached',
    `The account has reached its limit of ${maxConsumers} event consumers. Delete one that is no longer used.`,
  );
}
