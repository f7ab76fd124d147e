import { connections } from './accepting.ts';
import type { Target } from './deployment.ts';
import type { Generator, Receiver } from './load.ts';

type Load = { generator: Generator; receiver: Receiver };

/** Orders `count` eSIMs and waits for the last webhook. Returns eSIMs per second. */
export async function provisionRate(
  { generator, receiver }: Load,
  { url, key }: Target,
  count: number,
): Promise<number> {
  await receiver.reset();
  const startedAtMs = performance.now();
  await generator.postOrders({ url, key, connections, count });
  await receiver.expect(count);
  return (count / (performance.now() - startedAtMs)) * 1_000;
}
