import type {
  InputOf,
  Operation,
  OperationId,
  Operations,
  OperatorOperationId,
  ResultOf,
} from '@simplane/contract';
import { createKey } from '../accounts/create-key.ts';
import { getKey } from '../accounts/get-key.ts';
import { identify } from '../accounts/identify.ts';
import { listKeys } from '../accounts/list-keys.ts';
import { deleteKey } from '../accounts/revoke-key.ts';
import { rollKey } from '../accounts/roll-key.ts';
import { updateKey } from '../accounts/update-key.ts';
import { listAuditLog } from '../audit/list.ts';
import { listBundles } from '../bundles/list.ts';
import { topUp } from '../bundles/top-up.ts';
import type { Context, WriteContext } from '../context.ts';
import { deleteSession } from '../dashboard/delete-session.ts';
import { listSessions } from '../dashboard/list-sessions.ts';
import { cancelExecution } from '../esims/cancel-execution.ts';
import { resumeEsim, suspendEsim, terminateEsim } from '../esims/change.ts';
import { getEsim } from '../esims/get.ts';
import { getInstallProfile } from '../esims/install.ts';
import { listEsims } from '../esims/list.ts';
import { provisionEsim } from '../esims/provision.ts';
import { updateEsim } from '../esims/update.ts';
import { getEvent } from '../events/get.ts';
import { listEvents } from '../events/list.ts';
import { listEventTypes } from '../events/list-types.ts';
import { sendTestEvent } from '../events/send-test.ts';
import { getExecution } from '../executions/get.ts';
import { listExecutions } from '../executions/list.ts';
import { acknowledgeEvents } from '../feed/consumers/acknowledge.ts';
import { deleteEventConsumer } from '../feed/consumers/delete.ts';
import { getEventConsumer } from '../feed/consumers/get.ts';
import { listEventConsumers } from '../feed/consumers/list.ts';
import { putEventConsumer } from '../feed/consumers/put.ts';
import { seekEventConsumer } from '../feed/consumers/seek.ts';
import type { Outcome } from '../idempotency/outcome.ts';
import { search } from '../lookups/search.ts';
import { listTimeline } from '../lookups/timeline.ts';
import { getEsimUsage } from '../lookups/usage.ts';
import { reportUsage } from '../observations/report-usage.ts';
import { getOverview } from '../overview/get.ts';
import { getProduct } from '../products/get.ts';
import { listProducts } from '../products/list.ts';
import { getRequest } from '../request-log/get.ts';
import { listRequests } from '../request-log/list.ts';
import { simulateEsim } from '../sandbox/simulate.ts';
import { getDelivery } from '../webhooks/deliveries/get.ts';
import { listEndpointAttempts } from '../webhooks/deliveries/list-attempts.ts';
import { listEndpointDeliveries } from '../webhooks/deliveries/list-of-endpoint.ts';
import { listEventDeliveries } from '../webhooks/deliveries/list-of-event.ts';
import { replayEvent } from '../webhooks/deliveries/replay.ts';
import { retryDelivery } from '../webhooks/deliveries/retry.ts';
import { skipDelivery } from '../webhooks/deliveries/skip.ts';
import { createWebhookEndpoint } from '../webhooks/endpoints/create.ts';
import { deleteWebhookEndpoint } from '../webhooks/endpoints/delete.ts';
import { enableWebhookEndpoint } from '../webhooks/endpoints/enable.ts';
import { getWebhookEndpoint } from '../webhooks/endpoints/get.ts';
import { listWebhookEndpoints } from '../webhooks/endpoints/list.ts';
import { probeWebhookEndpoint } from '../webhooks/endpoints/probe.ts';
import { rotateWebhookSecret } from '../webhooks/endpoints/rotate-secret.ts';
import { updateWebhookEndpoint } from '../webhooks/endpoints/update.ts';
import { getRecovery } from '../webhooks/recoveries/get.ts';
import { listEndpointRecoveries } from '../webhooks/recoveries/list-of-endpoint.ts';
import { recoverWebhookEndpoint } from '../webhooks/recoveries/recover.ts';
import { getEndpointStats } from '../webhooks/stats/get.ts';

type HandlerOf<O extends Operation> = O['method'] extends 'GET'
  ? (ctx: Context, input: InputOf<O>) => Promise<ResultOf<O>>
  : (ctx: WriteContext, input: InputOf<O>) => Promise<Outcome>;

type Elsewhere = 'readEventFeed' | OperatorOperationId;

/**
 * The handler of each of an account's operations. Does not compile unless every one has one; `http/feed` serves the feed,
 * `operator-routes.ts` has the operator's.
 */
export const routes: { [Id in Exclude<OperationId, Elsewhere>]: HandlerOf<Operations[Id]> } = {
  getMe: identify,
  createApiKey: createKey,
  listApiKeys: listKeys,
  getApiKey: getKey,
  updateApiKey: updateKey,
  deleteApiKey: deleteKey,
  rollApiKey: rollKey,
  listSessions,
  deleteSession,
  getOverview,
  search,
  listProducts,
  getProduct,
  createEsim: provisionEsim,
  listEsims,
  getEsim,
  updateEsim,
  getInstallProfile,
  suspendEsim,
  resumeEsim,
  terminateEsim,
  listTimeline,
  getEsimUsage,
  listBundles,
  addBundle: topUp,
  reportUsage,
  listExecutions,
  getExecution,
  cancelExecution,
  listEvents,
  getEvent,
  listEventTypes,
  sendTestEvent,
  replayEvent,
  listEventDeliveries,
  putEventConsumer,
  listEventConsumers,
  getEventConsumer,
  deleteEventConsumer,
  acknowledgeEvents,
  seekEventConsumer,
  createWebhookEndpoint,
  listWebhookEndpoints,
  getWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  enableWebhookEndpoint,
  rotateWebhookSecret,
  probeWebhookEndpoint,
  getEndpointStats,
  recoverWebhookEndpoint,
  listEndpointRecoveries,
  getRecovery,
  listEndpointDeliveries,
  listEndpointAttempts,
  getDelivery,
  retryDelivery,
  skipDelivery,
  simulateEsim,
  listAuditLog,
  listRequests,
  getRequest,
};
