import type { InputOf, Operation, Operations, OperatorOperationId, ResultOf } from '@simplane/contract';
import { listOperatorAuditLog } from '../accounts/audit/list.ts';
import type { Context, OperatorContext } from '../accounts/context.ts';
import { createAccount } from '../accounts/create-account.ts';
import { deployment } from '../accounts/deployment.ts';
import { getAccount } from '../accounts/get-account.ts';
import { listAccounts } from '../accounts/list-accounts.ts';
import { createAccountApiKey, deleteAccountApiKey, listAccountApiKeys } from '../accounts/operate-keys.ts';
import { deactivateProduct } from '../accounts/products/deactivate.ts';
import { getCatalogProduct } from '../accounts/products/get.ts';
import { listCatalogProducts } from '../accounts/products/list.ts';
import { putCatalogProduct } from '../accounts/products/put.ts';
import { deleteOperatorSession } from '../accounts/sessions/delete-session.ts';
import { listOperatorSessions } from '../accounts/sessions/list-sessions.ts';
import { updateAccount } from '../accounts/update-account.ts';
import type { Write } from '../accounts/write.ts';
import { acknowledgeEvents } from '../notify/feed/consumers/acknowledge.ts';
import { deleteEventConsumer } from '../notify/feed/consumers/delete.ts';
import { getEventConsumer } from '../notify/feed/consumers/get.ts';
import { listEventConsumers } from '../notify/feed/consumers/list.ts';
import { putEventConsumer } from '../notify/feed/consumers/put.ts';
import { seekEventConsumer } from '../notify/feed/consumers/seek.ts';
import { listEndpointHealth } from '../notify/webhooks/endpoints/list-for-operator.ts';
import { listIccidRanges } from '../orders/esims/list-iccid-ranges.ts';
import { listRejectedUsage } from '../orders/observations/list-rejected.ts';
import { getAnyExecution } from '../orders/operator/get.ts';
import { listAllExecutions } from '../orders/operator/list.ts';
import { listFailureGroups } from '../orders/operator/list-groups.ts';
import { resolveExecution } from '../orders/operator/resolve.ts';
import { retryExecution } from '../orders/operator/retry.ts';
import { retryFailureGroup } from '../orders/operator/retry-group.ts';
import { searchAccounts } from '../views/lookups/search-accounts.ts';
import { getOperatorOverview } from '../views/overview/get-for-operator.ts';
import { listProcesses } from '../views/processes/list.ts';
import { listNetworks } from '../views/processes/list-networks.ts';

type HandlerOf<O extends Operation> = O['method'] extends 'GET'
  ? (ctx: OperatorContext, input: InputOf<O>) => Promise<ResultOf<O>>
  : Write<OperatorContext, InputOf<O>, ResultOf<O>>;

/** An account's read, for what the deployment has like an account. */
function reading<I, R>(read: (ctx: Context, input: I) => Promise<R>) {
  return (ctx: OperatorContext, input: I) => read({ ...ctx, account: deployment }, input);
}

/** Likewise, a write. */
function writing<I, R extends object>(write: Write<Context, I, R>): Write<OperatorContext, I, R> {
  return (tx, ctx, input) => write(tx, { ...ctx, account: deployment }, input);
}

type Served = Exclude<OperatorOperationId, 'readOperatorEventFeed'>;

/** The handler of each of the operator's operations. Does not compile unless every one has one; `http/feed` serves the feed. */
export const operatorRoutes: { [Id in Served]: HandlerOf<Operations[Id]> } = {
  getOperatorOverview,
  searchAccounts,
  listProcesses,
  listRejectedUsage,
  listOperatorSessions,
  deleteOperatorSession,
  listNetworks,
  listIccidRanges,
  putOperatorEventConsumer: writing(putEventConsumer),
  listOperatorEventConsumers: reading(listEventConsumers),
  getOperatorEventConsumer: reading(getEventConsumer),
  deleteOperatorEventConsumer: writing(deleteEventConsumer),
  acknowledgeOperatorEvents: writing(acknowledgeEvents),
  seekOperatorEventConsumer: writing(seekEventConsumer),
  listEndpointHealth,
  listCatalogProducts,
  getCatalogProduct,
  putCatalogProduct,
  deactivateProduct,
  listOperatorAuditLog,
  createAccount,
  listAccounts,
  getAccount,
  updateAccount,
  createAccountApiKey,
  listAccountApiKeys,
  deleteAccountApiKey,
  listAllExecutions,
  getAnyExecution,
  retryExecution,
  resolveExecution,
  listFailureGroups,
  retryFailureGroup,
};
