import type {
  InputFor,
  InputOf,
  Operation,
  Operations,
  OperatorOperationId,
  ResultOf,
} from '@simplane/contract';
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
import type { AnyWrite, LongWrite, Write } from '../accounts/write.ts';
import { acknowledgeEvents } from '../notify/feed/consumers/acknowledge.ts';
import { deleteEventConsumer } from '../notify/feed/consumers/delete.ts';
import { getEventConsumer } from '../notify/feed/consumers/get.ts';
import { listEventConsumers } from '../notify/feed/consumers/list.ts';
import { putEventConsumer } from '../notify/feed/consumers/put.ts';
import { seekEventConsumer } from '../notify/feed/consumers/seek.ts';
import { getDelivery } from '../notify/webhooks/deliveries/get.ts';
import { listEndpointDeliveries } from '../notify/webhooks/deliveries/list.ts';
import { listEndpointAttempts } from '../notify/webhooks/deliveries/list-attempts.ts';
import { retryDelivery } from '../notify/webhooks/deliveries/retry.ts';
import { skipDelivery } from '../notify/webhooks/deliveries/skip.ts';
import { createWebhookEndpoint } from '../notify/webhooks/endpoints/create.ts';
import { deleteWebhookEndpoint } from '../notify/webhooks/endpoints/delete.ts';
import { enableWebhookEndpoint } from '../notify/webhooks/endpoints/enable.ts';
import { getWebhookEndpoint } from '../notify/webhooks/endpoints/get.ts';
import { listWebhookEndpoints } from '../notify/webhooks/endpoints/list.ts';
import { listEndpointHealth } from '../notify/webhooks/endpoints/list-for-operator.ts';
import { probeWebhookEndpoint } from '../notify/webhooks/endpoints/probe.ts';
import { rotateWebhookSecret } from '../notify/webhooks/endpoints/rotate-secret.ts';
import { updateWebhookEndpoint } from '../notify/webhooks/endpoints/update.ts';
import { getRecovery } from '../notify/webhooks/recoveries/get.ts';
import { listEndpointRecoveries } from '../notify/webhooks/recoveries/list-of-endpoint.ts';
import { recoverWebhookEndpoint } from '../notify/webhooks/recoveries/recover.ts';
import type { Probing } from '../notify/webhooks/sender/probes.ts';
import { getEndpointStats } from '../notify/webhooks/stats/get.ts';
import { getUndelivered } from '../notify/webhooks/undelivered/get.ts';
import { closeAccount } from '../orders/closing/close.ts';
import { getAccountErasure } from '../orders/erasures/get.ts';
import { eraseAccount } from '../orders/erasures/request.ts';
import { listIccidRanges } from '../orders/esims/list-iccid-ranges.ts';
import { listRejectedUsage } from '../orders/observations/list-rejected.ts';
import { takeObservations } from '../orders/observations/take-observations.ts';
import { getAnyExecution } from '../orders/operator/get.ts';
import { listAllExecutions } from '../orders/operator/list.ts';
import { listFailureGroups } from '../orders/operator/list-groups.ts';
import { resolveExecution } from '../orders/operator/resolve.ts';
import { retryExecution } from '../orders/operator/retry.ts';
import { retryFailureGroup } from '../orders/operator/retry-group.ts';
import { listServiceChanges } from '../orders/service/list-changes.ts';
import { resyncCore } from '../orders/service/resync.ts';
import { searchAccounts } from '../views/lookups/search-accounts.ts';
import { getOperatorOverview } from '../views/overview/get-for-operator.ts';
import { listProcesses } from '../views/processes/list.ts';
import { listNetworks } from '../views/processes/list-networks.ts';

type HandlerOf<O extends Operation> = O['method'] extends 'GET'
  ? (ctx: OperatorContext, input: InputOf<O>) => Promise<ResultOf<O>>
  : AnyWrite<OperatorContext & Probing, InputOf<O>, ResultOf<O>>;

/** An account's read, for what the deployment has like an account. */
function reading<I, R>(read: (ctx: Context, input: I) => Promise<R>) {
  return (ctx: OperatorContext, input: I) => read({ ...ctx, account: deployment }, input);
}

/** Likewise, a write. */
function writing<I, R extends object>(write: Write<Context, I, R>): Write<OperatorContext, I, R> {
  return (tx, ctx, input) => write(tx, { ...ctx, account: deployment }, input);
}

/** Likewise, a write that first does what takes long. */
function writingLong<I, R extends object>({
  beforeTransaction,
}: LongWrite<Context & Probing, I, R>): LongWrite<OperatorContext & Probing, I, R> {
  return { beforeTransaction: (ctx, input) => beforeTransaction({ ...ctx, account: deployment }, input) };
}

type Served = Exclude<OperatorOperationId, 'readOperatorEventFeed'>;

/** The handler of each of the operator's operations. Does not compile unless every one has one; `http/feed` serves the feed. */
export const operatorRoutes: { [Id in Served]: HandlerOf<Operations[Id]> } = {
  getOperatorOverview,
  searchAccounts,
  takeObservations,
  listProcesses,
  listRejectedUsage,
  listServiceChanges,
  resyncCore,
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
  createOperatorWebhookEndpoint: writing(createWebhookEndpoint),
  listOperatorWebhookEndpoints: reading(listWebhookEndpoints),
  getOperatorWebhookEndpoint: reading(getWebhookEndpoint),
  updateOperatorWebhookEndpoint: writing(updateWebhookEndpoint),
  deleteOperatorWebhookEndpoint: writing(deleteWebhookEndpoint),
  enableOperatorWebhookEndpoint: writing(enableWebhookEndpoint),
  rotateOperatorWebhookSecret: writing(rotateWebhookSecret),
  probeOperatorWebhookEndpoint: writingLong(probeWebhookEndpoint),
  getOperatorEndpointStats: reading(getEndpointStats),
  getOperatorUndelivered: reading(getUndelivered),
  recoverOperatorWebhookEndpoint: writingLong<
    InputFor<'recoverWebhookEndpoint'>,
    ResultOf<Operations['recoverWebhookEndpoint']>
  >(recoverWebhookEndpoint),
  listOperatorEndpointRecoveries: reading(listEndpointRecoveries),
  getOperatorRecovery: reading(getRecovery),
  listOperatorEndpointDeliveries: reading(listEndpointDeliveries),
  listOperatorEndpointAttempts: reading(listEndpointAttempts),
  getOperatorDelivery: reading(getDelivery),
  retryOperatorDelivery: writing(retryDelivery),
  skipOperatorDelivery: writing(skipDelivery),
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
  closeAccount,
  eraseAccount,
  getAccountErasure,
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
