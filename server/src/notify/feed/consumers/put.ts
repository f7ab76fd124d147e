import { consumerNamePattern, type InputFor } from '@simplane/contract';
import type { Account, Context } from '../../../accounts/context.ts';
import { kindOf } from '../../../accounts/deployment.ts';
import { AppError, invalid } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { findPlace } from '../find-place.ts';
import { findConsumer } from './get.ts';
import { presentConsumer } from './present.ts';
import { findConsumerRow, insertConsumer } from './sql.ts';

// Far above what an account, or an operator, needs: one for each program that reads the feed.
const maxConsumers = 100;

/** Creates a consumer, or returns the one that has the name, unchanged. */
export async function putEventConsumer(
  tx: Queryable,
  ctx: Context,
  { params, body }: InputFor<'putEventConsumer'>,
) {
  const { name } = params;
  if (!new RegExp(consumerNamePattern).test(name)) {
    throw invalid(
      'name',
      'name must have 1 to 100 letters, digits, "_", "." and "-", and begin with a letter or a digit.',
    );
  }
  const feed = { db: tx, account: ctx.account, cell: ctx.cell };
  const existing = await findConsumerRow(tx, ctx.account.uuid, name);
  if (existing) return { body: presentConsumer(ctx, existing), changes: null };
  const consumer = {
    accountUuid: ctx.account.uuid,
    name,
    place: (await findPlace(feed, body.after ?? 'now')).place,
    types: body.type ?? null,
    createdAt: new Date(ctx.clock.nowMs()),
  };
  if (!(await insertConsumer(tx, consumer, maxConsumers))) throw limitReached(ctx.account);
  return { body: presentConsumer(ctx, await findConsumer(feed, name)) };
}

function limitReached(account: Account): AppError {
  return new AppError(
    'consumer_limit_reached',
    `The ${kindOf(account)} has reached its limit of ${maxConsumers} event consumers. Delete one that is no longer used.`,
  );
}
