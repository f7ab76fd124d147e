import type {
  AnswerOf,
  InputOf,
  Operation,
  OperationId,
  Operations,
  OperatorOperationId,
  ResultOf,
} from '@simplane/contract';
import { listAuditLog } from '../accounts/audit/list.ts';
import { getBranding } from '../accounts/branding/get.ts';
import { updateBranding } from '../accounts/branding/update.ts';
import type { Context } from '../accounts/context.ts';
import { createApiKey } from '../accounts/create-key.ts';
import { deleteApiKey } from '../accounts/delete-key.ts';
import { getApiKey } from '../accounts/get-key.ts';
import { getMe } from '../accounts/get-me.ts';
import { listApiKeys } from '../accounts/list-keys.ts';
import { getProduct } from '../accounts/products/get.ts';
import { listProducts } from '../accounts/products/list.ts';
import { rollApiKey } from '../accounts/roll-key.ts';
import { deleteSession } from '../accounts/sessions/delete-session.ts';
import { listSessions } from '../accounts/sessions/list-sessions.ts';
import { updateApiKey } from '../accounts/update-key.ts';
import type { AnyWrite } from '../accounts/write.ts';
import { getEvent } from '../notify/events/get.ts';
import type { HandingOver } from '../notify/events/hand-over.ts';
import { listEvents } from '../notify/events/list.ts';
import { listEventTypes } from '../notify/events/list-types.ts';
import { sendTestEvent } from '../notify/events/send-test.ts';
import { acknowledgeEvents } from '../notify/feed/consumers/acknowledge.ts';
import { deleteEventConsumer } from '../notify/feed/consumers/delete.ts';
import { getEventConsumer } from '../notify/feed/consumers/get.ts';
import { listEventConsumers } from '../notify/feed/consumers/list.ts';
import { putEventConsumer } from '../notify/feed/consumers/put.ts';
import { seekEventConsumer } from '../notify/feed/consumers/seek.ts';
import { getDelivery } from '../notify/webhooks/deliveries/get.ts';
import { listEndpointDeliveries, listEventDeliveries } from '../notify/webhooks/deliveries/list.ts';
import { listEndpointAttempts } from '../notify/webhooks/deliveries/list-attempts.ts';
import { replayEvent, replayEvents } from '../notify/webhooks/deliveries/replay.ts';
import { retryDelivery } from '../notify/webhooks/deliveries/retry.ts';
import { skipDelivery } from '../notify/webhooks/deliveries/skip.ts';
import { createWebhookEndpoint } from '../notify/webhooks/endpoints/create.ts';
import { deleteWebhookEndpoint } from '../notify/webhooks/endpoints/delete.ts';
import { enableWebhookEndpoint } from '../notify/webhooks/endpoints/enable.ts';
import { getWebhookEndpoint } from '../notify/webhooks/endpoints/get.ts';
import { listWebhookEndpoints } from '../notify/webhooks/endpoints/list.ts';
import { probeWebhookEndpoint } from '../notify/webhooks/endpoints/probe.ts';
import { rotateWebhookSecret } from '../notify/webhooks/endpoints/rotate-secret.ts';
import { updateWebhookEndpoint } from '../notify/webhooks/endpoints/update.ts';
import { getRecovery } from '../notify/webhooks/recoveries/get.ts';
import { listEndpointRecoveries } from '../notify/webhooks/recoveries/list-of-endpoint.ts';
import { recoverWebhookEndpoint } from '../notify/webhooks/recoveries/recover.ts';
import type { Probing } from '../notify/webhooks/sender/probes.ts';
import { getEndpointStats } from '../notify/webhooks/stats/get.ts';
import { getUndelivered } from '../notify/webhooks/undelivered/get.ts';
import { cancelBatch } from '../orders/batches/cancel.ts';
import { createBatch } from '../orders/batches/create.ts';
import { getBatch } from '../orders/batches/get.ts';
import { listBatches } from '../orders/batches/list.ts';
import { listBatchInstallProfiles } from '../orders/batches/list-install-profiles.ts';
import { addBundle } from '../orders/bundles/add.ts';
import { cancelBundle } from '../orders/bundles/cancel.ts';
import { listBundles } from '../orders/bundles/list.ts';
import { getEsimErasure } from '../orders/erasures/get.ts';
import { eraseEsim } from '../orders/erasures/request.ts';
import { cancelExecution } from '../orders/esims/cancel-execution.ts';
import { resumeEsim, suspendEsim, terminateEsim } from '../orders/esims/change.ts';
import { createEsim } from '../orders/esims/create.ts';
import { getEsim } from '../orders/esims/get.ts';
import { getInstallProfile } from '../orders/esims/install.ts';
import { listEsims } from '../orders/esims/list.ts';
import { updateEsim } from '../orders/esims/update.ts';
import { getExecution } from '../orders/executions/get.ts';
import { listExecutions } from '../orders/executions/list.ts';
import type { Seating } from '../orders/executions/seats.ts';
import { createInstallLink } from '../orders/install-links/create.ts';
import { listInstallLinks } from '../orders/install-links/list.ts';
import { revokeInstallLink } from '../orders/install-links/revoke.ts';
import { reportUsage } from '../orders/observations/report-usage.ts';
import { simulateEsim } from '../orders/sandbox/simulate.ts';
import { search } from '../views/lookups/search.ts';
import { listTimeline } from '../views/lookups/timeline.ts';
import { getEsimUsage } from '../views/lookups/usage.ts';
import { getOverview } from '../views/overview/get.ts';
import { getRequest } from '../views/request-log/get.ts';
import { listRequests } from '../views/request-log/list.ts';

type HandlerOf<O extends Operation> = O['method'] extends 'GET'
  ? (ctx: Context, input: InputOf<O>) => Promise<ResultOf<O>>
  : AnyWrite<Context & Probing & HandingOver & Seating, InputOf<O>, AnswerOf<O>>;

type Elsewhere = 'readEventFeed' | OperatorOperationId;

/**
 * The handler of each of an account's operations. Does not compile unless every one has one; `http/feed` serves the feed,
 * `operator-routes.ts` has the operator's.
 */
export const routes: { [Id in Exclude<OperationId, Elsewhere>]: HandlerOf<Operations[Id]> } = {
  getMe,
  createApiKey,
  listApiKeys,
  getApiKey,
  updateApiKey,
  deleteApiKey,
  rollApiKey,
  listSessions,
  deleteSession,
  getOverview,
  search,
  listProducts,
  getProduct,
  createEsim,
  listEsims,
  getEsim,
  updateEsim,
  getInstallProfile,
  createInstallLink,
  listInstallLinks,
  revokeInstallLink,
  getBranding,
  updateBranding,
  suspendEsim,
  resumeEsim,
  terminateEsim,
  eraseEsim,
  getEsimErasure,
  listTimeline,
  getEsimUsage,
  listBundles,
  addBundle,
  cancelBundle,
  reportUsage,
  createBatch,
  listBatches,
  getBatch,
  cancelBatch,
  listBatchInstallProfiles,
  listExecutions,
  getExecution,
  cancelExecution,
  listEvents,
  getEvent,
  listEventTypes,
  sendTestEvent,
  replayEvent,
  replayEvents,
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
  getUndelivered,
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
