import type { InputFor } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { AppError } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { encodePlace } from '../cursor.ts';
import { findPlace } from '../find-place.ts';
import { findConsumer } from './get.ts';
import { presentConsumer } from './present.ts';
import { advanceConsumer } from './sql.ts';

/** Moves a consumer forward. It never moves back, so a second program with the same name notices. */
export async function acknowledgeEvents(
  tx: Queryable,
  ctx: Context,
  { params: { name }, body }: InputFor<'acknowledgeEvents'>,
) {
  const feed = { db: tx, account: ctx.account, cell: ctx.cell };
  await findConsumer(feed, name);
  const { place } = await findPlace(feed, body.cursor, 'cursor');
  if (!(await advanceConsumer(tx, { accountUuid: ctx.account.uuid, name, place }))) {
    const now = await findConsumer(feed, name);
    throw new AppError(
      'cursor_behind',
      'This consumer has acknowledged later events, so another program uses the same name. error.cursor is its place.',
      { param: 'cursor', cursor: encodePlace(ctx, now) },
    );
  }
  return {
    body: presentConsumer(ctx, await findConsumer(feed, name)),
    changes: { cursor: body.cursor },
  };
}
