import type { InputFor } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { findPlace } from '../find-place.ts';
import { findConsumer } from './get.ts';
import { presentConsumer } from './present.ts';
import { moveConsumer } from './sql.ts';

/** Moves a consumer to any place, also out of one that has expired. */
export async function seekEventConsumer(
  tx: Queryable,
  ctx: Context,
  { params: { name }, body }: InputFor<'seekEventConsumer'>,
) {
  const feed = { db: tx, account: ctx.account, cell: ctx.cell };
  const { place } = await findPlace(feed, body.after);
  await moveConsumer(tx, { accountUuid: ctx.account.uuid, name, place });
  return {
    body: presentConsumer(ctx, await findConsumer(feed, name)),
    changes: { after: body.after },
  };
}
