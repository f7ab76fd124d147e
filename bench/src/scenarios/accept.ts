import { acceptRate } from '../support/accepting.ts';
import { alternate } from '../support/alternate.ts';
import type { Deployment } from '../support/deployment.ts';
import { startGenerator } from '../support/load.ts';
import type { Result } from '../support/scenario.ts';

// For V8 to compile the hot code: the rate rises for about 10 s.
const warmUpMs = 7_000;
const roundMs = 2_000;
const ceilingMs = 1_200;

/** No worker runs: only accepting orders is measured. */
export const acceptSettings = { SIMPLANE_ROLE: 'api' };

/** `POST /v1/esims` compared to a bare `pg` loop that writes the same rows, with 16 or 64 in flight, whichever is faster. */
export async function accept(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const generator = startGenerator();
  const bareRate = async (inFlight: number, forMs: number) => {
    const { databaseUrl } = deployment;
    const { count, elapsedMs } = await generator.bareAccepts({ databaseUrl, inFlight, forMs });
    return (count / elapsedMs) * 1_000;
  };
  try {
    progress('warming up');
    await acceptRate(generator, deployment, warmUpMs);
    await bareRate(16, 1_000);
    return await alternate(
      {
        value: () => acceptRate(generator, deployment, roundMs),
        ceiling: async () => Math.max(await bareRate(16, ceilingMs), await bareRate(64, ceilingMs)),
      },
      { rounds: 7, unit: 'orders/s', goal: '≥ 1', progress },
    );
  } finally {
    await generator.stop();
  }
}
