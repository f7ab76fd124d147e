import { alternate } from '../support/alternate.ts';
import { createEndpoint } from '../support/delivering.ts';
import type { Deployment } from '../support/deployment.ts';
import { startGenerator, startReceiver } from '../support/load.ts';
import { provisionRate } from '../support/provisioning.ts';
import type { Result } from '../support/scenario.ts';
import { warmUp } from '../support/warm-up.ts';

const count = 3_000;

/**
 * eSIM rate from the first POST to the last webhook with `SIMPLANE_PROCESSES=2`, compared to one process. On two cores both compete
 * with PostgreSQL and the load: it shows what the second process costs, not what it brings on a larger machine.
 */
export async function processes(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const generator = startGenerator();
  const receivers = await Promise.all([startReceiver(), startReceiver()] as const);
  try {
    const two = await deployment.startServer(
      { SIMPLANE_PROCESSES: '2' },
      await deployment.createDatabase('several'),
    );
    const sides = await Promise.all(
      [deployment, two].map(async (target, n) => {
        const receiver = receivers[n as 0 | 1];
        await createEndpoint(target, receiver.url, ['esim.provisioned']);
        return () => provisionRate({ generator, receiver }, target, count);
      }),
    );
    const [ceiling, value] = sides as [() => Promise<number>, () => Promise<number>];
    progress('warming up');
    await warmUp(value, ceiling);
    return await alternate({ value, ceiling }, { rounds: 7, unit: 'eSIMs/s', goal: '≥ 0.9', progress });
  } finally {
    await Promise.all(receivers.map((receiver) => receiver.stop()));
    await generator.stop();
  }
}
