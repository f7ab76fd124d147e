import { alternate } from '../support/alternate.ts';
import { prepareBacklog } from '../support/delivering.ts';
import { startReceiver } from '../support/load.ts';
import type { Million } from '../support/million.ts';
import type { Result } from '../support/scenario.ts';

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
    for (const backlog of [atEmpty, atFull]) await backlog.deliver(count);
    return await alternate(
      { value: () => atFull.deliver(count), ceiling: () => atEmpty.deliver(count) },
      { rounds: 7, unit: 'deliveries/s', goal: '≥ 0.85', progress },
    );
  } finally {
    await atEmpty.stop();
    await atFull.stop();
    await Promise.all(workers.map((worker) => worker.stop()));
    await receiver.stop();
  }
}
