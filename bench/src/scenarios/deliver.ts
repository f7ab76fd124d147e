import { alternate } from '../support/alternate.ts';
import { maxInFlight, prepareBacklog } from '../support/delivering.ts';
import type { Deployment } from '../support/deployment.ts';
import { type Generator, type Receiver, startGenerator, startReceiver } from '../support/load.ts';
import type { Result } from '../support/scenario.ts';
import { warmUp } from '../support/warm-up.ts';

const count = 6_000;

/** Delivering a backlog to one endpoint, including the attempt log, compared to the same signed POSTs from bare undici. */
export async function deliver(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  return compare(deployment, '≥ 0.85', progress, async ({ generator, receiver }) => ({
    async measure() {
      const { elapsedMs } = await generator.barePosts({ url: receiver.url, inFlight: maxInFlight, count });
      return (count / elapsedMs) * 1_000;
    },
    stop: async () => {},
  }));
}

/** The same, compared to a bare loop that reads the same rows, sends them and stores the same results, in batches. */
export async function deliverDurable(
  deployment: Deployment,
  progress: (text: string) => void,
): Promise<Result> {
  const database = await deployment.createDatabase('bare');
  const bare = await deployment.startServer({ SIMPLANE_ROLE: 'api' }, database);
  return compare(deployment, '≥ 0.9', progress, async ({ generator, receiver }) => {
    const backlog = await prepareBacklog(bare, receiver);
    const { databaseUrl } = bare;
    return {
      async measure() {
        await backlog.storeEvents(count);
        await backlog.storeDeliveries();
        const target = { databaseUrl, url: receiver.url, inFlight: maxInFlight, count };
        const { elapsedMs } = await generator.bareDeliveries(target);
        await receiver.expect(count);
        await backlog.vacuum();
        return (count / elapsedMs) * 1_000;
      },
      stop: backlog.stop,
    };
  });
}

type Load = { generator: Generator; receiver: Receiver };
type Ceiling = { measure(): Promise<number>; stop(): Promise<void> };

async function compare(
  deployment: Deployment,
  goal: string,
  progress: (text: string) => void,
  openCeiling: (load: Load) => Promise<Ceiling>,
): Promise<Result> {
  const generator = startGenerator();
  const receiver = await startReceiver();
  const backlog = await prepareBacklog(deployment, receiver);
  const bare = await openCeiling({ generator, receiver });
  try {
    progress('warming up');
    const value = () => backlog.deliver(count);
    await warmUp(value, bare.measure);
    return await alternate(
      { value, ceiling: bare.measure },
      { rounds: 7, unit: 'deliveries/s', goal, progress },
    );
  } finally {
    await bare.stop();
    await backlog.stop();
    await receiver.stop();
    await generator.stop();
  }
}
