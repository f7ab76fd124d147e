import type { EsimStatus, SimulatedAction } from '@simplane/contract';
import { AppError } from '../../platform/app-error.ts';

const onNetwork: readonly SimulatedAction[] = ['attach', 'use_data'];

/** Rejects actions that no device could do with an eSIM in this status. */
export function requireUsableEsim(action: SimulatedAction, { status }: { status: EsimStatus }): void {
  switch (status) {
    case 'provisioning':
      throw new AppError(
        'esim_not_ready',
        'The eSIM is still provisioning; wait for the esim.provisioned event, then simulate.',
      );
    case 'failed':
      throw new AppError(
        'esim_not_ready',
        'The eSIM failed to provision and will never be ready; order another eSIM.',
      );
    case 'terminated':
      throw new AppError(
        'state_conflict',
        'The eSIM is terminated, which is final: it can no longer be used. Order another eSIM.',
      );
    case 'suspended':
      if (!onNetwork.includes(action)) return;
      throw new AppError('state_conflict', 'The eSIM is suspended, so networks reject it; resume it first.');
    default:
  }
}
