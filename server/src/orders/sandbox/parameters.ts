import type { SimulatedAction } from '@simplane/contract';
import { AppError } from '../../platform/app-error.ts';

type Body = { action: SimulatedAction; country?: string; bytes?: number; record_id?: string };
type Parameter = 'country' | 'bytes' | 'record_id';

/** The parameters of each action besides `at`, which every action accepts. */
const takes: Partial<Record<SimulatedAction, { needs: Parameter; may?: Parameter }>> = {
  attach: { needs: 'country' },
  use_data: { needs: 'bytes', may: 'record_id' },
};

/** Rejects parameters that the action does not use: they are more likely a mistake. */
export function requireMatchingParameters(body: Body): void {
  const { needs, may } = takes[body.action] ?? {};
  for (const param of ['country', 'bytes', 'record_id'] as const) {
    if (body[param] === undefined || param === needs || param === may) continue;
    const others = [needs, may, 'at'].filter((name) => name !== undefined).join(', ');
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
