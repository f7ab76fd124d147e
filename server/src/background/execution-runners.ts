import type { ExecutionType } from '@simplane/contract';
import { bundleAddRunner } from '../bundles/run-add.ts';
import type { IccidRange } from '../config/iccid-ranges.ts';
import { createIccidAllotter } from '../esims/iccid.ts';
import { createChangeRunner } from '../esims/run-change.ts';
import { createProvisionRunner } from '../esims/run-provision.ts';
import type { Runner } from '../executions/worker.ts';

/** Who carries out what. */
export function createRunners(
  iccidRanges: readonly IccidRange[] | null = null,
): Record<ExecutionType, Runner> {
  return {
    'esim.provision': createProvisionRunner(createIccidAllotter(iccidRanges)),
    'esim.suspend': createChangeRunner('suspend'),
    'esim.resume': createChangeRunner('resume'),
    'esim.terminate': createChangeRunner('terminate'),
    'bundle.add': bundleAddRunner,
  };
}
