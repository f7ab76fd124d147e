import type { Target } from './deployment.ts';
import type { Generator } from './load.ts';

export const connections = 64;

/** Orders per second that a server durably accepts, each with an idempotency key. */
export async function acceptRate(generator: Generator, { url, key }: Target, forMs: number): Promise<number> {
  const { count, elapsedMs } = await generator.postOrders({ url, key, connections, forMs });
  return (count / elapsedMs) * 1_000;
}
