import { alternate } from '../support/alternate.ts';
import { mostInFlight, prepareBacklog } from '../support/delivering.ts';
import type { Deployment } from '../support/deployment.ts';
import { startGenerator, startReceiver } from '../support/load.ts';
import type { Result } from '../support/scenario.ts';

const count = 6_000;

/** A stored backlog for one endpoint, sent with attempt log and health, against the same signed POSTs from a bare undici loop. */
export async function deliver(deployment: Deployment, progress: (what: string) => void): Promise<Result> {
  const generator = startGenerator();
  const receiver = await startReceiver();
  const backlog = await prepareBacklog(deployment, receiver);
  const barePosts = async () => {
    const { elapsedMs } = await generator.barePosts({ url: receiver.url, inFlight: mostInFlight, count });
    return (count / elapsedMs) * 1_000;
  };
  try {
    progress('warming up');
    for (let round = 0; round < 2; round++) {
      await backlog.deliver(count);
      await barePosts();
    }
    return await alternate(
      { value: () => backlog.deliver(count), ceiling: barePosts },
      { rounds: 7, unit: 'deliveries/s', goal: '≥ 0.85', progress },
    );
  } finally {
    await backlog.stop();
    await receiver.stop();
    await generator.stop();
  }
}
