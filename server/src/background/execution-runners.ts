import type { ExecutionType } from '@simplane/contract';
import type { CoreMode } from '../network/core-mode.ts';
import { firstBundleFrom } from '../orders/bundles/insert-from.ts';
import { topUpRunner } from '../orders/bundles/run-top-up.ts';
import { cancelBundles, promoteBundle } from '../orders/bundles/write.ts';
import { createIccidSource } from '../orders/esims/iccid.ts';
import type { IccidRange } from '../orders/esims/iccid-ranges.ts';
import { createChangeRunner } from '../orders/esims/run-change.ts';
import { createProvisionRunner } from '../orders/esims/run-provision.ts';
import type { Runner } from '../orders/executions/runner.ts';
import type { Cell } from '../platform/cell.ts';

/** The runner for each execution type. */
export function createRunners(
  iccidRanges: readonly IccidRange[] | null = null,
  core: CoreMode = 'none',
  cell: Cell = null,
): Record<ExecutionType, Runner> {
  return {
    'esim.provision': createProvisionRunner(createIccidSource(iccidRanges, cell), firstBundleFrom, core),
    'esim.suspend': createChangeRunner('suspend'),
    // If the active bundle expired while the eSIM was suspended, the next one becomes active.
    'esim.resume': createChangeRunner('resume', (tx, esim, deps) =>
      promoteBundle(tx, esim, new Date(deps.clock.nowMs()), deps),
    ),
    'esim.terminate': createChangeRunner('terminate', cancelBundles),
    'bundle.add': topUpRunner,
  };
}
