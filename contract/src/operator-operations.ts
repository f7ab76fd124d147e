import { eraseAccount, getAccountErasure } from './erasure.ts';
import {
  closeAccount,
  createAccount,
  createAccountApiKey,
  deleteAccountApiKey,
  getAccount,
  listAccountApiKeys,
  listAccounts,
  updateAccount,
} from './operator/accounts.ts';
import { listOperatorAuditLog } from './operator/audit-log.ts';
import {
  deactivateProduct,
  getCatalogProduct,
  listCatalogProducts,
  putCatalogProduct,
} from './operator/catalog-product.ts';
import { listEndpointHealth } from './operator/endpoint-health.ts';
import {
  acknowledgeOperatorEvents,
  deleteOperatorEventConsumer,
  getOperatorEventConsumer,
  listOperatorEventConsumers,
  putOperatorEventConsumer,
  seekOperatorEventConsumer,
} from './operator/event-consumers.ts';
import { readOperatorEventFeed } from './operator/event-feed.ts';
import {
  getAnyExecution,
  listAllExecutions,
  resolveExecution,
  retryExecution,
} from './operator/execution.ts';
import { listFailureGroups, retryFailureGroup } from './operator/failure-group.ts';
import { listIccidRanges } from './operator/iccid-range.ts';
import { listNetworks } from './operator/network.ts';
import { takeObservations } from './operator/observations.ts';
import { getOperatorOverview } from './operator/overview.ts';
import { listProcesses } from './operator/process.ts';
import { listRejectedUsage } from './operator/rejected-usage.ts';
import { searchAccounts } from './operator/search.ts';
import { listServiceChanges, resyncCore } from './operator/service-change.ts';
import { deleteOperatorSession, listOperatorSessions } from './operator/session.ts';
import {
  createOperatorWebhookEndpoint,
  deleteOperatorWebhookEndpoint,
  enableOperatorWebhookEndpoint,
  getOperatorDelivery,
  getOperatorEndpointStats,
  getOperatorRecovery,
  getOperatorUndelivered,
  getOperatorWebhookEndpoint,
  listOperatorEndpointAttempts,
  listOperatorEndpointDeliveries,
  listOperatorEndpointRecoveries,
  listOperatorWebhookEndpoints,
  probeOperatorWebhookEndpoint,
  recoverOperatorWebhookEndpoint,
  retryOperatorDelivery,
  rotateOperatorWebhookSecret,
  skipOperatorDelivery,
  updateOperatorWebhookEndpoint,
} from './operator/webhook-endpoints.ts';

/** The operations of the deployment's operator, under `/v1/operator/`. Each needs the `operator` scope, one `operator_write`. */
export const operatorOperations = {
  getOperatorOverview,
  searchAccounts,
  takeObservations,
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
  readOperatorEventFeed,
  putOperatorEventConsumer,
  listOperatorEventConsumers,
  getOperatorEventConsumer,
  deleteOperatorEventConsumer,
  acknowledgeOperatorEvents,
  seekOperatorEventConsumer,
  createOperatorWebhookEndpoint,
  listOperatorWebhookEndpoints,
  getOperatorWebhookEndpoint,
  updateOperatorWebhookEndpoint,
  deleteOperatorWebhookEndpoint,
  enableOperatorWebhookEndpoint,
  rotateOperatorWebhookSecret,
  probeOperatorWebhookEndpoint,
  getOperatorEndpointStats,
  getOperatorUndelivered,
  recoverOperatorWebhookEndpoint,
  listOperatorEndpointRecoveries,
  getOperatorRecovery,
  listOperatorEndpointDeliveries,
  listOperatorEndpointAttempts,
  getOperatorDelivery,
  retryOperatorDelivery,
  skipOperatorDelivery,
  listEndpointHealth,
  listNetworks,
  listIccidRanges,
  listCatalogProducts,
  getCatalogProduct,
  putCatalogProduct,
  deactivateProduct,
  listProcesses,
  listRejectedUsage,
  listServiceChanges,
  resyncCore,
  listOperatorSessions,
  deleteOperatorSession,
  listOperatorAuditLog,
} as const;
