import { alternate } from '../support/alternate.ts';
import { maxInFlight, prepareBacklog } from '../support/delivering.ts';
import type { Deployment } from '../support/deployment.ts';
import { startGenerator, startReceiver } from '../support/load.ts';
import type { Result } from '../support/scenario.ts';
import { warmUp } from '../support/warm-up.ts';

const count = 6_000;

/** Delivering a backlog to one endpoint, including the attempt log, compared to the same signed POSTs from bare undici. */
export async function deliver(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const generator = startGenerator();
  const receiver = await startReceiver();
  const backlog = await prepareBacklog(deployment, receiver);
  const barePosts = async () => {
    const { elapsedMs } = await generator.barePosts({ url: receiver.url, inFlight: maxInFlight, count });
    return (count / elapsedMs) * 1_000;
  };
  try {
    progress('warming up');
    const value = () => backlog.deliver(count);
    await warmUp(value, barePosts);
    return await alternate(
      { value, ceiling: barePosts },
      { rounds: 7, unit: 'deliveries/s', goal: '≥ 0.85', progress },
    );
  } finally {
    await backlog.stop();
    await receiver.stop();
    await generator.stop();
  }
}
