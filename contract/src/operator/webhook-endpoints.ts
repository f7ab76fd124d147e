import {
  getDelivery,
  listEndpointAttempts,
  listEndpointDeliveries,
  retryDelivery,
  skipDelivery,
} from '../delivery.ts';
import { getEndpointStats } from '../endpoint-stats.ts';
import { getRecovery, listEndpointRecoveries, recoverWebhookEndpoint } from '../recovery.ts';
import { getUndelivered } from '../undelivered.ts';
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  enableWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookEndpoints,
  rotateWebhookSecret,
  updateWebhookEndpoint,
} from '../webhook-endpoint.ts';
import { probeWebhookEndpoint } from '../webhook-probe.ts';
import { ofDeployment } from './of-deployment.ts';

export const createOperatorWebhookEndpoint = ofDeployment(createWebhookEndpoint, {
  summary: 'Create a webhook endpoint of the deployment',
  description:
    'It gets the events of all accounts that come into the operator’s feed from now on, each with `account_id` in front. The response contains the signing secret. Only a retry with the same `Idempotency-Key` returns it again. The deployment can have 50.',
});

export const listOperatorWebhookEndpoints = ofDeployment(listWebhookEndpoints, {
  summary: 'List webhook endpoints of the deployment',
  description:
    'Returns the deployment’s endpoints, without their secrets. Those of accounts: `GET /v1/operator/endpoint_health`.',
});

export const getOperatorWebhookEndpoint = ofDeployment(getWebhookEndpoint, {
  summary: 'Get a webhook endpoint of the deployment',
  description:
    'Returns an endpoint of the deployment. If Simplane disabled it, `disabled_reason` says what to fix.',
});

export const updateOperatorWebhookEndpoint = ofDeployment(updateWebhookEndpoint, {
  summary: 'Update a webhook endpoint of the deployment',
  description:
    'Changes the given fields only. `metadata` is merged; null removes a key. `status: "disabled"` stops deliveries, `"enabled"` continues them from where they stopped.',
});

export const deleteOperatorWebhookEndpoint = ofDeployment(deleteWebhookEndpoint, {
  summary: 'Delete a webhook endpoint of the deployment',
  description: 'Deletes the endpoint and cancels its pending deliveries.',
});

export const enableOperatorWebhookEndpoint = ofDeployment(enableWebhookEndpoint, {
  summary: 'Enable a webhook endpoint of the deployment',
  description:
    'Continues with the event after the last one that was queued for it: nothing of the time in between is missed. Use `recover` for deliveries that failed or were canceled.',
});

export const rotateOperatorWebhookSecret = ofDeployment(rotateWebhookSecret, {
  summary: 'Rotate the signing secret of the deployment’s endpoint',
  description: 'Returns a new secret. Deliveries are signed with both secrets until the old one expires.',
});

export const probeOperatorWebhookEndpoint = ofDeployment(probeWebhookEndpoint, {
  summary: 'Send a test request to the deployment’s endpoint',
  description:
    'Sends one signed test request now and returns what happened, also if the endpoint is disabled. It never counts as a failure.',
});

export const getOperatorEndpointStats = ofDeployment(getEndpointStats, {
  summary: 'Get statistics of the deployment’s endpoint',
  description: 'Returns attempts and their durations per hour.',
});

export const getOperatorUndelivered = ofDeployment(getUndelivered, {
  summary: 'Count what the deployment’s endpoint did not receive',
  description: 'Counts deliveries that failed or were canceled, by type and day. `recover` sends them.',
});

export const recoverOperatorWebhookEndpoint = ofDeployment(recoverWebhookEndpoint, {
  summary: 'Recover missed events of the deployment’s endpoint',
  description: 'Delivers again what failed or was canceled. With `since`, only what is not older.',
});

export const listOperatorEndpointRecoveries = ofDeployment(listEndpointRecoveries, {
  summary: 'List recoveries of the deployment’s endpoint',
  description: 'Returns the endpoint’s recoveries, newest first.',
});

export const getOperatorRecovery = ofDeployment(getRecovery, {
  summary: 'Get a recovery of the deployment’s endpoint',
  description: 'Returns how far a recovery is.',
});

export const listOperatorEndpointDeliveries = ofDeployment(listEndpointDeliveries, {
  summary: 'List deliveries to the deployment’s endpoint',
  description: 'Returns the deliveries to an endpoint of the deployment, newest first.',
});

export const listOperatorEndpointAttempts = ofDeployment(listEndpointAttempts, {
  summary: 'List attempts to reach the deployment’s endpoint',
  description: 'Returns single attempts, those of the newest delivery first.',
});

export const getOperatorDelivery = ofDeployment(getDelivery, {
  summary: 'Get a delivery to the deployment’s endpoint',
  description: 'Returns a delivery and its attempts.',
});

export const retryOperatorDelivery = ofDeployment(retryDelivery, {
  summary: 'Retry a delivery to the deployment’s endpoint',
  description:
    'Sends a pending delivery now. For a failed or canceled one it queues a new delivery and returns that.',
});

export const skipOperatorDelivery = ofDeployment(skipDelivery, {
  summary: 'Skip a delivery to the deployment’s endpoint',
  description: 'Cancels a pending delivery. On an ordered endpoint, the deliveries that wait for it go on.',
});
