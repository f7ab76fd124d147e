import { currentApiVersion } from '@simplane/contract';
import { lowestUuid } from '../platform/ids/uuid-range.ts';
import type { Account } from './context.ts';

/**
 * The deployment, for what it has like an account: a feed with the events of all accounts, consumers, webhook endpoints. The nil UUID
 * is the id of no account.
 */
export const deployment: Account = {
  id: 'deployment',
  uuid: lowestUuid,
  name: 'Deployment',
  apiVersion: currentApiVersion,
  status: 'active',
  move: null,
  // Each costs a look-up per event of any account.
  limits: { webhookEndpoints: 50, openExecutions: null, requestsPerSecond: null },
};

type Owner = { uuid: string };

/** Where the operations on what it has are. */
export function pathsOf({ uuid }: Owner): '/v1' | '/v1/operator' {
  return uuid === deployment.uuid ? '/v1/operator' : '/v1';
}

/** For messages. */
export function kindOf({ uuid }: Owner): 'account' | 'deployment' {
  return uuid === deployment.uuid ? 'deployment' : 'account';
}
