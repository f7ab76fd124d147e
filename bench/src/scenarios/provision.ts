import { acceptRate } from '../support/accepting.ts';
import { alternate } from '../support/alternate.ts';
import { createEndpoint } from '../support/delivering.ts';
import type { Deployment } from '../support/deployment.ts';
import { startGenerator, startReceiver } from '../support/load.ts';
import { provisionRate } from '../support/provisioning.ts';
import type { Result } from '../support/scenario.ts';
import { warmUp } from '../support/warm-up.ts';

const count = 3_000;
const ceilingMs = 1_500;

/** eSIM rate from the first POST to the last webhook, in one process, compared to the rate of only accepting orders. */
export async function provision(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const generator = startGenerator();
  const receiver = await startReceiver();
  try {
    await createEndpoint(deployment, receiver.url, ['esim.provisioned']);
    const accepting = await deployment.startServer(
      { SIMPLANE_ROLE: 'api' },
      await deployment.createDatabase('accepting'),
    );
    const provision = () => provisionRate({ generator, receiver }, deployment, count);
    progress('warming up');
    const accept = () => acceptRate(generator, accepting, ceilingMs);
    await warmUp(provision, accept);
    return await alternate(
      { value: provision, ceiling: accept },
      { rounds: 7, unit: 'eSIMs/s', goal: '≥ 0.4', progress },
    );
  } finally {
    await receiver.stop();
    await generator.stop();
  }
}
