import type { EventConsumer } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { findConsumer } from './find-consumer.ts';
import { presentConsumer } from './present.ts';

export async function getEventConsumer(
  ctx: Context,
  { params }: { params: { name: string } },
): Promise<EventConsumer> {
  return presentConsumer(ctx.account.id, await findConsumer(ctx, params.name));
}
