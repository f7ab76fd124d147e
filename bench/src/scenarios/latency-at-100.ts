import { createEndpoint } from '../support/delivering.ts';
import type { Deployment } from '../support/deployment.ts';
import { compareToBounds, latencyOf } from '../support/latency.ts';
import { startGenerator, startReceiver } from '../support/load.ts';
import type { Result } from '../support/scenario.ts';

const perSecond = 100;
const forMs = 60_000;
const type = 'bench.measured';
const boundsMs = { p50: 2, p99: 10 };

/** Latency of an event from its commit to the webhook receiver. */
export async function latencyAt100(
  deployment: Deployment,
  progress: (text: string) => void,
): Promise<Result> {
  const generator = startGenerator();
  const receiver = await startReceiver();
  try {
    await createEndpoint(deployment, receiver.url, [type]);
    const { url, key } = deployment;
    progress('warming up');
    await generator.postEvents({ url, key, perSecond, forMs: 3_000, type });
    await receiver.expect((3_000 / 1_000) * perSecond);
    await receiver.reset();
    progress(`${perSecond} events a second for ${forMs / 1_000} s`);
    const { count } = await generator.postEvents({ url, key, perSecond, forMs, type });
    await receiver.expect(count);
    return compareToBounds(await latencyOf(deployment.databaseUrl, await receiver.receipts()), boundsMs);
  } finally {
    await receiver.stop();
    await generator.stop();
  }
}
