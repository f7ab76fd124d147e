import { type EventTypeName, eventTypeNames, eventTypes, exampleEvent } from './event-types.ts';
import { exampleId, exampleTime } from './example-values.ts';
import { idPrefixes } from './ids.ts';
import { eventName, schemaRef, webhookEventName } from './openapi-schemas.ts';

/** Headers of every delivery. */
const deliveryHeaders = [
  header(
    'Service-Signature',
    'Time and signatures of this attempt: `t=<Unix seconds>,v1=<hex>`. The signature is the HMAC-SHA256 of `<t>.<raw body>`, keyed by the endpoint’s whole secret. During a rotation there is one `v1` for each valid secret.',
    `t=${exampleTime},v1=95d38f153e72faa66cbfcbcff96c0140556e8f6c7adc61a275d7f7b17f969e89`,
  ),
  {
    ...header('Service-Test', '`true` for test events and probes; absent otherwise. Not signed.', 'true'),
    required: false,
  },
  header('webhook-id', 'Id of the event (Standard Webhooks).', exampleId(idPrefixes.event)),
  header(
    'webhook-timestamp',
    'Unix time of this attempt in seconds (Standard Webhooks).',
    String(exampleTime),
  ),
  header(
    'webhook-signature',
    'Signatures of this attempt, separated by spaces (Standard Webhooks).',
    'v1,xvqWkj4xUhImm9LxVv6/BKQlr4zf0/pWl2D6s7e1xJU=',
  ),
];

/** What Simplane sends to your endpoints: one entry for each event type, and one for a receiver of all of them. */
export function describeWebhooks() {
  return Object.fromEntries([
    ['event', { post: anyEvent() }],
    ...eventTypeNames.map((type) => [type, { post: oneEvent(type) }] as const),
  ]);
}

/** The same for the endpoint that an operation creates. Generators that drop what no path refers to keep the events by it. */
export function describeCallbacks() {
  return { event: { '{$request.body#/url}': { post: anyEvent('onEndpointEvent') } } };
}

function anyEvent(operationId = 'onEvent') {
  return delivery({
    operationId,
    summary: 'Any event',
    description: 'What an endpoint receives: the events of all types that it subscribes to.',
    schema: webhookEventName,
    example: eventTypeNames.slice(0, 1).map(exampleEvent)[0],
  });
}

function oneEvent(type: EventTypeName) {
  return delivery({
    operationId: `on${eventName(type).replace(/Event$/, '')}`,
    summary: type,
    description: eventTypes[type].description,
    schema: eventName(type),
    example: exampleEvent(type),
  });
}

type Delivered = {
  operationId: string;
  summary: string;
  description: string;
  schema: string;
  example: unknown;
};

function delivery({ operationId, summary, description, schema, example }: Delivered) {
  return {
    operationId,
    tags: ['Webhooks'],
    summary,
    description,
    // A delivery has no API key; its signature proves who sent it.
    security: [],
    // Not by reference: oapi-codegen drops components that no path refers to.
    parameters: deliveryHeaders,
    requestBody: { required: true, content: { 'application/json': { schema: schemaRef(schema), example } } },
    responses: {
      '2XX': { description: 'Delivered. Answer as soon as the event is stored; the body is ignored.' },
      '4XX': { description: 'Not delivered, as with every other status: the delivery is tried again.' },
    },
  };
}

function header(name: string, description: string, example: string) {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example };
}
