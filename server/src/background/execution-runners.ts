import type { ExecutionType } from '@simplane/contract';
import { firstBundleFrom } from '../bundles/insert-from.ts';
import { topUpRunner } from '../bundles/run-top-up.ts';
import { cancelBundles, promoteBundle } from '../bundles/write.ts';
import type { IccidRange } from '../config/iccid-ranges.ts';
import { createIccidSource } from '../esims/iccid.ts';
import { createChangeRunner } from '../esims/run-change.ts';
import { createProvisionRunner } from '../esims/run-provision.ts';
import type { Runner } from '../executions/worker.ts';

/** The runner for each execution type. */
export function createRunners(
  iccidRanges: readonly IccidRange[] | null = null,
): Record<ExecutionType, Runner> {
  return {
    'esim.provision': createProvisionRunner(createIccidSource(iccidRanges), firstBundleFrom),
    'esim.suspend': createChangeRunner('suspend'),
    // If the active bundle expired while the eSIM was suspended, the next one becomes active.
    'esim.resume': createChangeRunner('resume', (tx, esim, deps) =>
      promoteBundle(tx, esim, new Date(deps.clock.nowMs()), deps),
    ),
    'esim.terminate': createChangeRunner('terminate', cancelBundles),
    'bundle.add': topUpRunner,
  };
}
