import type { BareAccepts } from '../load/bare-accepts.ts';
import type { BareDeliveries } from '../load/bare-deliveries.ts';
import type { BareEvents } from '../load/bare-events.ts';
import type { BareInserts } from '../load/bare-inserts.ts';
import type { BarePosts } from '../load/bare-posts.ts';
import type { BareService } from '../load/bare-service.ts';
import type { CountedRead, IdleStreams } from '../load/feed-streams.ts';
import type { InsertEvents } from '../load/insert-events.ts';
import type { PostEvents } from '../load/post-events.ts';
import type { PostOrders } from '../load/post-orders.ts';
import { type Child, startChild } from './child.ts';

export type Generator = ReturnType<typeof startGenerator>;

/** Sends load from a child process. */
export function startGenerator() {
  const child = startChild(new URL('../load/generator.js', import.meta.url));
  type Done = { count: number; elapsedMs: number };
  return {
    pid: child.pid,
    postOrders: (input: PostOrders) => child.call<Done>('postOrders', input),
    postEvents: (input: PostEvents) => child.call<{ count: number }>('postEvents', input),
    insertEvents: (input: InsertEvents) => child.call<{ count: number }>('insertEvents', input),
    bareAccepts: (input: BareAccepts) => child.call<Done>('bareAccepts', input),
    bareDeliveries: (input: BareDeliveries) => child.call<{ elapsedMs: number }>('bareDeliveries', input),
    bareInserts: (input: BareInserts) => child.call<{ count: number }>('bareInserts', input),
    barePosts: (input: BarePosts) => child.call<{ elapsedMs: number }>('barePosts', input),
    stop: () => child.stop(),
  };
}

/** Provisions without Simplane, in a child process. */
export function startBareService(input: BareService) {
  return startBare('bare-service', input);
}

/** Sends events without Simplane, in a child process. */
export function startBareEvents(input: BareEvents) {
  return startBare('bare-events', input);
}

async function startBare(program: string, input: object) {
  const child = startChild(new URL(`../load/${program}.js`, import.meta.url));
  return { url: await child.call<string>('start', input), pid: child.pid, stop: () => child.stop() };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

const timeoutMs = 60_000;

/** Receives webhooks in a child process. */
export async function startReceiver() {
  const child = startChild(new URL('../load/receiver.js', import.meta.url));
  return { url: await child.call<string>('address'), ...receiptsOf(child), stop: () => child.stop() };
}

export type FeedReader = ReturnType<typeof startFeedReader>;

/** Reads the event feed in a child process. */
export function startFeedReader() {
  const child = startChild(new URL('../load/feed-reader.js', import.meta.url));
  return {
    followStream: (input: { url: string; key: string }) => child.call('followStream', input),
    openIdleStreams: (input: IdleStreams) => child.call('openIdleStreams', input),
    countIdleStreams: () => child.call<number>('countIdleStreams'),
    readStream: (input: CountedRead) => child.call<{ elapsedMs: number }>('readStream', input),
    readFeedPages: (input: CountedRead) => child.call<{ elapsedMs: number }>('readFeedPages', input),
    ...receiptsOf(child),
    stop: () => child.stop(),
  };
}

function receiptsOf(child: Child) {
  return {
    reset: () => child.call('reset'),
    /** Waits for exactly `count` events. Fewer within a minute, or a duplicate, is an error. */
    async expect(count: number): Promise<void> {
      const { total, distinct } = await child.call<{ total: number; distinct: number }>('wait', {
        count,
        timeoutMs,
      });
      if (total !== count || distinct !== count) {
        throw new Error(`${count} events were sent; the receiver got ${total}, ${distinct} of them distinct`);
      }
    },
    receipts: () => child.call<{ id: string; atMs: number }[]>('receipts'),
  };
}
