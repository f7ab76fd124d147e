import type { BodyOf, CallOperation, QueryOf } from './call.ts';
import type { Recovery, RecoveryPreview } from './generated.ts';
import { createList } from './list.ts';
import type { CallOptions } from './transport.ts';

/** The endpoints of an account, or with the operator's `call`, those of the deployment. */
export function webhookEndpointsOf(call: CallOperation) {
  return {
    /** Creates an endpoint. The result contains the signing secret, which is not returned again. */
    create: (body: BodyOf<'createWebhookEndpoint'>, options?: CallOptions) =>
      call('createWebhookEndpoint', { body }, options),
    list: (query?: QueryOf<'listWebhookEndpoints'>, options?: CallOptions) =>
      createList(query, (query) => call('listWebhookEndpoints', { query }, options)),
    get: (id: string, options?: CallOptions) => call('getWebhookEndpoint', { params: { id } }, options),
    update: (id: string, body: BodyOf<'updateWebhookEndpoint'>, options?: CallOptions) =>
      call('updateWebhookEndpoint', { params: { id }, body }, options),
    delete: (id: string, options?: CallOptions) => call('deleteWebhookEndpoint', { params: { id } }, options),
    enable: (id: string, options?: CallOptions) => call('enableWebhookEndpoint', { params: { id } }, options),
    /** Returns a new secret. Deliveries are signed with both secrets for `expires_in` seconds. */
    rotateSecret: (id: string, body: BodyOf<'rotateWebhookSecret'> = {}, options?: CallOptions) =>
      call('rotateWebhookSecret', { params: { id }, body }, options),
    /** Sends one signed test request now and returns what happened. Also to a disabled endpoint. */
    probe: (id: string, options?: CallOptions) => call('probeWebhookEndpoint', { params: { id } }, options),
    /** Attempts and their durations per hour. */
    stats: (id: string, query?: QueryOf<'getEndpointStats'>, options?: CallOptions) =>
      call('getEndpointStats', { params: { id }, query }, options),
    recover: recoverOf(call),
    listRecoveries: (id: string, query?: QueryOf<'listEndpointRecoveries'>, options?: CallOptions) =>
      createList(query, (query) => call('listEndpointRecoveries', { params: { id }, query }, options)),
    /** Counts by type and day what the endpoint did not receive; `recover` sends it. */
    undelivered: (id: string, query?: QueryOf<'getUndelivered'>, options?: CallOptions) =>
      call('getUndelivered', { params: { id }, query }, options),
    /** Single attempts, those of the newest delivery first. */
    attempts: (id: string, query?: QueryOf<'listEndpointAttempts'>, options?: CallOptions) =>
      createList(query, (query) => call('listEndpointAttempts', { params: { id }, query }, options)),
    listDeliveries: (id: string, query?: QueryOf<'listEndpointDeliveries'>, options?: CallOptions) =>
      createList(query, (query) => call('listEndpointDeliveries', { params: { id }, query }, options)),
  };
}

type Recover = {
  /** Counts by type what a recovery would deliver. Changes nothing. */
  (
    id: string,
    body: BodyOf<'recoverWebhookEndpoint'> & { dry_run: true },
    options?: CallOptions,
  ): Promise<RecoveryPreview>;
  /** Starts to deliver what the endpoint missed, or only what it missed since `since`; `recoveries.get` says how far it is. */
  (
    id: string,
    body?: BodyOf<'recoverWebhookEndpoint'> & { dry_run?: false },
    options?: CallOptions,
  ): Promise<Recovery>;
};

/** `dry_run` decides which of the two the API returns. */
function recoverOf(call: CallOperation): Recover {
  return ((id, body = {}, options) =>
    call('recoverWebhookEndpoint', { params: { id }, body }, options)) as Recover;
}

export function deliveriesOf(call: CallOperation) {
  return {
    get: (id: string, options?: CallOptions) => call('getDelivery', { params: { id } }, options),
    retry: (id: string, options?: CallOptions) => call('retryDelivery', { params: { id } }, options),
    /** Cancels a pending delivery. On an ordered endpoint, the deliveries that wait for it go on. */
    skip: (id: string, options?: CallOptions) => call('skipDelivery', { params: { id } }, options),
  };
}

export function recoveriesOf(call: CallOperation) {
  return {
    get: (id: string, options?: CallOptions) => call('getRecovery', { params: { id } }, options),
  };
}
