import { createEndpoint } from '../support/delivering.ts';
import type { Deployment } from '../support/deployment.ts';
import { startGenerator, startReceiver } from '../support/load.ts';
import { readMemoryMb } from '../support/memory.ts';
import { provisionRate } from '../support/provisioning.ts';
import { type Result, round } from '../support/scenario.ts';

export const memorySettings = { SIMPLANE_ROLE: 'api' };

const rounds = 7;
const count = 3_000;
// Measured: 234 MB in a worker under load. More would be a leak or an unbounded queue.
const boundMb = 300;

/** Resident memory of an `api` and a `worker` process, at rest and while they provision. The bound is 300 MB each. */
export async function memory(deployment: Deployment, progress: (what: string) => void): Promise<Result> {
  const generator = startGenerator();
  const receiver = await startReceiver();
  try {
    const worker = await deployment.startServer({ SIMPLANE_ROLE: 'worker' });
    const read = async () => ({
      api: await readMemoryMb(deployment.pid),
      worker: await readMemoryMb(worker.pid),
    });
    const atRest = await read();
    await createEndpoint(deployment, receiver.url, ['esim.provisioned']);
    const most = { ...atRest };
    for (let i = 1; i <= rounds; i++) {
      await provisionRate({ generator, receiver }, deployment, count);
      const now = await read();
      most.api = Math.max(most.api, now.api);
      most.worker = Math.max(most.worker, now.worker);
      progress(`round ${i} of ${rounds}: api ${round(now.api)} MB, worker ${round(now.worker)} MB`);
    }
    const value = round(Math.max(most.api, most.worker));
    return {
      ...{ value, unit: 'MB', ceiling: boundMb, ratio: round(value / boundMb), goal: '≤ 1', rounds },
      details: {
        api_at_rest_mb: round(atRest.api),
        worker_at_rest_mb: round(atRest.worker),
        api_under_load_mb: round(most.api),
        worker_under_load_mb: round(most.worker),
      },
    };
  } finally {
    await receiver.stop();
    await generator.stop();
  }
}
