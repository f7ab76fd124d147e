import type { EsimStatus, SimulatedAction } from '@simplane/contract';
import { AppError, conflict } from '../../platform/app-error.ts';

type Body = { action: SimulatedAction; country?: string; bytes?: number; record_id?: string };
type Parameter = 'country' | 'bytes' | 'record_id';

/** The parameters of each action besides `at`, which every action accepts. */
const takes: Partial<Record<SimulatedAction, { needs?: Parameter; may?: Parameter[] }>> = {
  attach: { needs: 'country' },
  use_data: { needs: 'bytes', may: ['record_id', 'country'] },
  deplete_bundle: { may: ['country'] },
};

/** Rejects parameters that the action does not use: they are more likely a mistake. */
export function requireMatchingParameters(body: Body): void {
  const { needs, may = [] } = takes[body.action] ?? {};
  for (const param of ['country', 'bytes', 'record_id'] as const) {
    if (body[param] === undefined || param === needs || may.includes(param)) continue;
    const others = [needs, ...may, 'at'].filter((name) => name !== undefined).join(', ');
    throw new AppError(
      'parameter_unknown',
      `${param} is not a parameter of ${body.action}; it takes ${others}.`,
      {
        param,
      },
    );
  }
  if (needs && body[needs] === undefined) {
    throw new AppError('parameter_missing', `${needs} is required for ${body.action}.`, { param: needs });
  }
}

const onNetwork: readonly SimulatedAction[] = ['attach', 'use_data', 'deplete_bundle'];

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
      throw conflict('The eSIM is terminated, which is final: it can no longer be used. Order another eSIM.');
    case 'suspended':
      if (!onNetwork.includes(action)) return;
      throw conflict('The eSIM is suspended, so networks reject it; resume it first.');
    default:
  }
}
