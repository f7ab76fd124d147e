import { acceptRate } from '../support/accepting.ts';
import { alternate } from '../support/alternate.ts';
import { createEndpoint, maxInFlight } from '../support/delivering.ts';
import type { Deployment } from '../support/deployment.ts';
import { startBareService, startGenerator, startReceiver } from '../support/load.ts';
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

/** The same, compared to a bare process that does the same durable work: accepts, settles and sends in batches. */
export async function provisionDurable(
  deployment: Deployment,
  progress: (text: string) => void,
): Promise<Result> {
  const generator = startGenerator();
  const receivers = await Promise.all([startReceiver(), startReceiver()] as const);
  const [receiver, bareReceiver] = receivers;
  const { key, ...bare } = await deployment.startServer(
    { SIMPLANE_ROLE: 'api' },
    await deployment.createDatabase('bare'),
  );
  await createEndpoint({ key, ...bare }, bareReceiver.url, ['esim.provisioned']);
  const service = await startBareService({
    databaseUrl: bare.databaseUrl,
    receiverUrl: bareReceiver.url,
    inFlight: maxInFlight,
  });
  try {
    await createEndpoint(deployment, receiver.url, ['esim.provisioned']);
    const value = () => provisionRate({ generator, receiver }, deployment, count);
    const target = { ...bare, key, url: service.url };
    const ceiling = () => provisionRate({ generator, receiver: bareReceiver }, target, count);
    progress('warming up');
    await warmUp(value, ceiling);
    return await alternate({ value, ceiling }, { rounds: 7, unit: 'eSIMs/s', goal: '≥ 0.8', progress });
  } finally {
    await service.stop();
    await Promise.all(receivers.map((one) => one.stop()));
    await generator.stop();
  }
}
