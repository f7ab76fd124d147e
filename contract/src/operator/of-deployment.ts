import type { Operation } from '../operation.ts';

type Texts = { summary: string; description: string };

/** An account's operation for what the deployment has like an account: under `/v1/operator`, for operators' keys. */
export function ofDeployment<const O extends Operation>(definition: O, texts: Texts) {
  return {
    ...definition,
    ...texts,
    path: definition.path.replace('/v1', '/v1/operator'),
    tag: 'Operator events',
    scope: 'operator',
  } as Omit<O, 'scope'> & { scope: 'operator' };
}
