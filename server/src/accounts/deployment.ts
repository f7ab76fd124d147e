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
  limits: { webhookEndpoints: null, openExecutions: null, requestsPerSecond: null },
};
