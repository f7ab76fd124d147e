import type { BareAccepts } from '../load/bare-accepts.ts';
import type { BarePosts } from '../load/bare-posts.ts';
import type { PostEvents } from '../load/post-events.ts';
import type { PostOrders } from '../load/post-orders.ts';
import { startChild } from './child.ts';

export type Generator = ReturnType<typeof startGenerator>;

/** Sends load from a process of its own. */
export function startGenerator() {
  const child = startChild(new URL('../load/generator.js', import.meta.url));
  type Done = { count: number; elapsedMs: number };
  return {
    postOrders: (input: PostOrders) => child.ask<Done>('postOrders', input),
    postEvents: (input: PostEvents) => child.ask<{ count: number }>('postEvents', input),
    bareAccepts: (input: BareAccepts) => child.ask<Done>('bareAccepts', input),
    barePosts: (input: BarePosts) => child.ask<{ elapsedMs: number }>('barePosts', input),
    stop: () => child.stop(),
  };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

const patienceMs = 60_000;

/** Takes webhooks in a process of its own. */
export async function startReceiver() {
  const child = startChild(new URL('../load/receiver.js', import.meta.url));
  return {
    url: await child.ask<string>('address'),
    forget: () => child.ask('forget'),
    /** Until this many have come; fewer in a minute, or more than one of an event, is an error: they are lost or doubled. */
    async expect(count: number): Promise<void> {
      const { total, distinct } = await child.ask<{ total: number; distinct: number }>('wait', {
        count,
        patienceMs,
      });
      if (total !== count || distinct !== count) {
        throw new Error(
          `${count} events were sent; the receiver got ${total}, ${distinct} of them different`,
        );
      }
    },
    receipts: () => child.ask<{ id: string; atMs: number }[]>('receipts'),
    stop: () => child.stop(),
  };
}
