import { createApiKey, deleteApiKey, getApiKey, listApiKeys, rollApiKey, updateApiKey } from './api-key.ts';
import { listAuditLog } from './audit-log.ts';
import { cancelBatch, createBatch, getBatch, listBatches, listBatchInstallProfiles } from './batch.ts';
import { getBranding, updateBranding } from './branding.ts';
import { addBundle, cancelBundle, listBundles } from './bundle.ts';
import {
  getDelivery,
  listEndpointAttempts,
  listEndpointDeliveries,
  listEventDeliveries,
  replayEvent,
  replayEvents,
  retryDelivery,
  skipDelivery,
} from './delivery.ts';
import { getEndpointStats } from './endpoint-stats.ts';
import { eraseEsim, getEsimErasure } from './erasure.ts';
import {
  createEsim,
  getEsim,
  getInstallProfile,
  listEsims,
  resumeEsim,
  suspendEsim,
  terminateEsim,
  updateEsim,
} from './esim.ts';
import { getEsimUsage } from './esim-usage.ts';
import { getEvent, listEvents, listEventTypes, sendTestEvent } from './event.ts';
import {
  acknowledgeEvents,
  deleteEventConsumer,
  getEventConsumer,
  listEventConsumers,
  putEventConsumer,
  readEventFeed,
  seekEventConsumer,
} from './event-feed.ts';
import { cancelExecution, getExecution, listExecutions } from './execution.ts';
import { getMe } from './identity.ts';
import { createInstallLink, listInstallLinks, revokeInstallLink } from './install-link.ts';
import type { InputOf } from './operation.ts';
import { operatorOperations } from './operator-operations.ts';
import { getOverview } from './overview.ts';
import { getProduct, listProducts } from './product.ts';
import { getRecovery, listEndpointRecoveries, recoverWebhookEndpoint } from './recovery.ts';
import { getRequest, listRequests } from './request.ts';
import { simulateEsim } from './sandbox.ts';
import { search } from './search.ts';
import { deleteSession, listSessions } from './session.ts';
import { listTimeline } from './timeline.ts';
import { getUndelivered } from './undelivered.ts';
import { reportUsage } from './usage-record.ts';
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  enableWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookEndpoints,
  rotateWebhookSecret,
  updateWebhookEndpoint,
} from './webhook-endpoint.ts';
import { probeWebhookEndpoint } from './webhook-probe.ts';

/** The operations of an account. */
const accountOperations = {
  getMe,
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
  readEventFeed,
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
  createApiKey,
  listApiKeys,
  getApiKey,
  updateApiKey,
  deleteApiKey,
  rollApiKey,
  listSessions,
  deleteSession,
  listAuditLog,
  listRequests,
  getRequest,
} as const;

/** Every operation by its id. The compiler checks that the server's route maps have exactly these keys. */
export const operations = { ...accountOperations, ...operatorOperations };

export type Operations = typeof operations;
export type OperationId = keyof Operations;

/** What the operation with this id is called with. */
export type InputFor<Id extends OperationId> = InputOf<Operations[Id]>;

export type OperatorOperationId = keyof typeof operatorOperations;
