import type { TSchema } from 'typebox';

/** Parameters of the next operation, and the member of the answer that has each. */
type Next = Record<string, Record<string, string>>;

const ofExecution = { id: 'id' };
const ofEsim = { iccid: 'iccid' };
const ofObject = { id: 'id' };

/** Where an answer leads, by the title of its schema. */
const nextOf: Record<string, Next> = {
  Execution: {
    getExecution: ofExecution,
    cancelExecution: ofExecution,
    getEsim: ofEsim,
    getInstallProfile: ofEsim,
  },
  Esim: {
    getInstallProfile: ofEsim,
    createInstallLink: ofEsim,
    listBundles: ofEsim,
    listTimeline: ofEsim,
    getEsimUsage: ofEsim,
  },
  InstallLink: { revokeInstallLink: { iccid: 'iccid', id: 'id' }, getEsim: ofEsim },
  Batch: { getBatch: ofObject, cancelBatch: ofObject, listBatchInstallProfiles: ofObject },
  Event: { getEvent: ofObject, listEventDeliveries: ofObject, replayEvent: ofObject },
  Delivery: {
    getDelivery: ofObject,
    retryDelivery: ofObject,
    getEvent: { id: 'event_id' },
    getWebhookEndpoint: { id: 'webhook_endpoint_id' },
  },
  WebhookEndpoint: {
    getWebhookEndpoint: ofObject,
    listEndpointDeliveries: ofObject,
    getUndelivered: ofObject,
    recoverWebhookEndpoint: ofObject,
  },
  Recovery: { getRecovery: ofObject, getWebhookEndpoint: { id: 'webhook_endpoint_id' } },
};

/** The links of an operation's answer, except to itself. */
export function describeLinks(operationId: string, response: TSchema) {
  const next = Object.entries(nextOf[(response as { title?: string }).title ?? ''] ?? {});
  const links = next
    .filter(([target]) => target !== operationId)
    .map(([target, parameters]) => {
      const values = Object.entries(parameters).map(([name, member]) => [name, `$response.body#/${member}`]);
      return [target, { operationId: target, parameters: Object.fromEntries(values) }];
    });
  return links.length === 0 ? {} : { links: Object.fromEntries(links) };
}
