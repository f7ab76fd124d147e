import type { Static } from 'typebox';
import { exampleId, exampleTime } from './example-values.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { idParams, nullableInteger, nullableString, nullableUnixSeconds, unixSeconds } from './schema.ts';
import { Type } from './type.ts';

export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'canceled'] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];

const eventId = Type.String({ pattern: idPattern(idPrefixes.event) });
const endpointId = Type.String({ pattern: idPattern(idPrefixes.webhookEndpoint) });

/** What an attempt and a test request show. */
export const attemptFields = {
  at: unixSeconds('When the attempt started.'),
  duration_ms: Type.Integer({ minimum: 0 }),
  status_code: nullableInteger({ description: 'HTTP status; null when there was no response.' }),
  error: nullableString({
    description: 'Why there was no response, in words; null if there was one.',
    examples: ['connection refused'],
  }),
  response: nullableString({
    description: 'First 1 kB of the response; null for private addresses.',
  }),
};

const pendingExample = {
  id: exampleId(idPrefixes.delivery),
  object: 'delivery',
  event_id: exampleId(idPrefixes.event),
  webhook_endpoint_id: exampleId(idPrefixes.webhookEndpoint),
  status: 'pending',
  origin: 'event',
  attempt_count: 0,
  next_attempt_at: exampleTime,
  blocked_by: null,
  attempts: [],
  created: exampleTime,
};

export const Delivery = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.delivery) }),
    object: Type.Literal('delivery'),
    event_id: eventId,
    webhook_endpoint_id: endpointId,
    status: Type.Enum([...deliveryStatuses]),
    origin: Type.Enum(['event', 'replay', 'recovery', 'retry'], {
      description:
        'Why it was queued: the event happened, or someone requested a replay, a recovery or a retry.',
    }),
    attempt_count: Type.Integer({ minimum: 0 }),
    next_attempt_at: nullableUnixSeconds(
      'When the next attempt is due; null if the delivery has ended, and while it waits for its turn (see `blocked_by`).',
    ),
    blocked_by: nullableString({
      pattern: idPattern(idPrefixes.delivery),
      description:
        'The delivery that must end first, on an endpoint with `ordering: "esim"`. Null if it waits for no delivery, or only for a ' +
        "recovery or its event's position.",
    }),
    attempts: Type.Array(Type.Object(attemptFields), { description: 'All attempts, oldest first.' }),
    created: unixSeconds('When the delivery was queued.'),
  },
  {
    title: 'Delivery',
    description: 'One event’s delivery to one endpoint. A replay creates a new one.',
    examples: [
      {
        ...pendingExample,
        status: 'succeeded',
        attempt_count: 1,
        next_attempt_at: null,
        attempts: [{ at: exampleTime, duration_ms: 184, status_code: 200, error: null, response: 'ok' }],
      },
    ],
  },
);

export type Delivery = Static<typeof Delivery>;

export const attemptOutcomes = ['succeeded', 'failed'] as const;

export type AttemptOutcome = (typeof attemptOutcomes)[number];

export const DeliveryAttempt = Type.Object(
  {
    object: Type.Literal('delivery_attempt'),
    delivery_id: Type.String({ pattern: idPattern(idPrefixes.delivery) }),
    event_id: eventId,
    webhook_endpoint_id: endpointId,
    number: Type.Integer({ minimum: 1, description: 'Number of the attempt within its delivery, from 1.' }),
    outcome: Type.Enum([...attemptOutcomes], { description: '`succeeded`: the response was a 2xx.' }),
    ...attemptFields,
  },
  {
    title: 'DeliveryAttempt',
    description: 'One attempt of a delivery: a request to the endpoint and its result.',
    examples: [
      {
        object: 'delivery_attempt',
        delivery_id: exampleId(idPrefixes.delivery),
        event_id: exampleId(idPrefixes.event),
        webhook_endpoint_id: exampleId(idPrefixes.webhookEndpoint),
        number: 1,
        outcome: 'failed',
        at: exampleTime,
        duration_ms: 184,
        status_code: 503,
        error: null,
        response: 'try later',
      },
    ],
  },
);

export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

export const listEndpointAttempts = operation({
  method: 'GET',
  path: '/v1/webhook_endpoints/{id}/attempts',
  tag: 'Deliveries',
  summary: 'List an endpoint’s attempts',
  description:
    'Returns the attempts of all deliveries to the endpoint: the newest delivery first, and within a delivery the last attempt first.',
  scope: 'read',
  params: idParams(idPrefixes.webhookEndpoint, 'Id of the endpoint (`we_…`).'),
  query: listQuery({
    outcome: Type.Optional(
      Type.Enum([...attemptOutcomes], { description: 'Only attempts with this outcome.' }),
    ),
  }),
  status: 200,
  response: listOf(DeliveryAttempt, 'DeliveryAttemptList'),
  refusals: ['resource_missing', 'cursor_invalid'],
});

export const listEndpointDeliveries = operation({
  method: 'GET',
  path: '/v1/webhook_endpoints/{id}/deliveries',
  tag: 'Deliveries',
  summary: 'List an endpoint’s deliveries',
  description: 'Returns the deliveries to an endpoint, with their attempts.',
  scope: 'read',
  params: idParams(idPrefixes.webhookEndpoint, 'Id of the endpoint (`we_…`).'),
  query: listQuery({
    status: Type.Optional(
      Type.Enum([...deliveryStatuses], { description: 'Only deliveries in this status.' }),
    ),
  }),
  status: 200,
  response: listOf(Delivery, 'DeliveryList'),
  refusals: ['resource_missing', 'cursor_invalid'],
});

export const listEventDeliveries = operation({
  method: 'GET',
  path: '/v1/events/{id}/deliveries',
  tag: 'Deliveries',
  summary: 'List an event’s deliveries',
  description: 'Returns the deliveries of an event, with their attempts.',
  scope: 'read',
  params: idParams(idPrefixes.event, 'Id of the event (`evt_…`).'),
  query: listQuery({}),
  status: 200,
  response: listOf(Delivery, 'DeliveryList'),
  refusals: ['resource_missing', 'cursor_invalid'],
});

export const getDelivery = operation({
  method: 'GET',
  path: '/v1/deliveries/{id}',
  tag: 'Deliveries',
  summary: 'Get a delivery',
  description: 'Returns a delivery with its attempts.',
  scope: 'read',
  params: idParams(idPrefixes.delivery, 'Id of the delivery (`dlv_…`).'),
  status: 200,
  response: Delivery,
  refusals: ['resource_missing'],
});

export const retryDelivery = operation({
  method: 'POST',
  path: '/v1/deliveries/{id}/retry',
  tag: 'Deliveries',
  summary: 'Retry a delivery',
  description:
    'Sends a pending delivery now, even if its endpoint is paused after failures or it waits for another delivery. For a failed or canceled delivery, queues a new one and sends that.',
  scope: 'write',
  audit: { action: 'delivery.retried', target: 'delivery' },
  params: idParams(idPrefixes.delivery, 'Id of the delivery (`dlv_…`).'),
  status: 202,
  response: Delivery,
  responseExample: { ...pendingExample, origin: 'retry' },
  refusals: ['resource_missing', 'state_conflict'],
});

export const skipDelivery = operation({
  method: 'POST',
  path: '/v1/deliveries/{id}/skip',
  tag: 'Deliveries',
  summary: 'Skip a delivery',
  description:
    'Cancels a pending delivery. On an endpoint with `ordering: "esim"`, the deliveries that waited for it continue.',
  scope: 'write',
  audit: { action: 'delivery.skipped', target: 'delivery' },
  params: idParams(idPrefixes.delivery, 'Id of the delivery (`dlv_…`).'),
  status: 200,
  response: Delivery,
  responseExample: { ...pendingExample, status: 'canceled', next_attempt_at: null },
  refusals: ['resource_missing', 'state_conflict'],
});

export const replayEvents = operation({
  method: 'POST',
  path: '/v1/events/replay',
  tag: 'Events',
  summary: 'Replay several events',
  description:
    'Delivers up to 100 events again, each as `POST /v1/events/{id}/replay` does. If one does not exist, none is delivered.',
  scope: 'write',
  audit: { action: 'event.replayed', target: 'request' },
  body: Type.Object(
    {
      event_ids: Type.Array(Type.String({ maxLength: 100 }), {
        minItems: 1,
        maxItems: 100,
        description: 'Ids of the events (`evt_…`).',
        examples: [[exampleId(idPrefixes.event)]],
      }),
      webhook_endpoint_id: Type.Optional(
        Type.String({ maxLength: 100, description: 'Target endpoint; all that are subscribed if omitted.' }),
      ),
    },
    { additionalProperties: false, examples: [{ event_ids: [exampleId(idPrefixes.event)] }] },
  ),
  status: 202,
  response: Type.Object(
    {
      object: Type.Literal('event_replays'),
      data: Type.Array(
        Type.Object({
          object: Type.Literal('event_replay'),
          event_id: eventId,
          deliveries: Type.Array(Type.String({ pattern: idPattern(idPrefixes.delivery) }), {
            description: 'Ids of the deliveries that were queued; none if no endpoint is subscribed.',
          }),
        }),
        { description: 'One item for each event, in the order of the request.' },
      ),
    },
    {
      title: 'EventReplays',
      description: 'The deliveries that were queued for each event.',
      examples: [
        {
          object: 'event_replays',
          data: [
            {
              object: 'event_replay',
              event_id: exampleId(idPrefixes.event),
              deliveries: [exampleId(idPrefixes.delivery)],
            },
          ],
        },
      ],
    },
  ),
  refusals: ['resource_missing', 'state_conflict'],
});

export const replayEvent = operation({
  method: 'POST',
  path: '/v1/events/{id}/replay',
  tag: 'Events',
  summary: 'Replay an event',
  description:
    'Delivers the event again, with the same id and bytes, to every endpoint that is now enabled and subscribed, or only to `webhook_endpoint_id`.',
  scope: 'write',
  audit: { action: 'event.replayed', target: 'event' },
  params: idParams(idPrefixes.event, 'Id of the event (`evt_…`).'),
  body: Type.Object(
    { webhook_endpoint_id: Type.Optional(Type.String({ maxLength: 100, description: 'Target endpoint.' })) },
    { additionalProperties: false, examples: [{}] },
  ),
  status: 202,
  response: Type.Object(
    { object: Type.Literal('event_replay'), event_id: eventId, deliveries: Type.Array(Delivery) },
    {
      title: 'EventReplay',
      description: 'The deliveries that a replay queued; none if no endpoint is subscribed.',
      examples: [
        {
          object: 'event_replay',
          event_id: exampleId(idPrefixes.event),
          deliveries: [{ ...pendingExample, origin: 'replay' }],
        },
      ],
    },
  ),
  refusals: ['resource_missing', 'state_conflict'],
});
