import { alternate } from '../support/alternate.ts';
import { prepareBacklog } from '../support/delivering.ts';
import { startReceiver } from '../support/load.ts';
import type { Million } from '../support/million.ts';
import type { Result } from '../support/scenario.ts';
import { warmUp } from '../support/warm-up.ts';

const count = 5_000;

/** Rate of delivering a backlog with a million rows per table, compared to an empty database. */
export async function deliverAtAMillion(
  { deployment, empty, full }: Million,
  progress: (text: string) => void,
): Promise<Result> {
  const receiver = await startReceiver();
  const atEmpty = await prepareBacklog(empty, receiver);
  const atFull = await prepareBacklog(full, receiver);
  const workers = [];
  try {
    for (const { databaseUrl } of [empty, full]) {
      workers.push(await deployment.startServer({ SIMPLANE_ROLE: 'worker' }, databaseUrl));
    }
    progress('warming up');
    const [value, ceiling] = [() => atFull.deliver(count), () => atEmpty.deliver(count)];
    await warmUp(value, ceiling);
    return await alternate({ value, ceiling }, { rounds: 7, unit: 'deliveries/s', goal: '≥ 0.9', progress });
  } finally {
    await atEmpty.stop();
    await atFull.stop();
    await Promise.all(workers.map((worker) => worker.stop()));
    await receiver.stop();
  }
}
