import { type Static, Type } from 'typebox';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { nullableInteger, nullableString, unixSeconds } from './schema.ts';

export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'canceled'] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];

const eventId = Type.String({ pattern: idPattern(idPrefixes.event) });
const endpointId = Type.String({ pattern: idPattern(idPrefixes.webhookEndpoint) });

export const Delivery = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.delivery) }),
    object: Type.Literal('delivery'),
    event_id: eventId,
    webhook_endpoint_id: endpointId,
    status: Type.Enum([...deliveryStatuses]),
    origin: Type.Enum(['event', 'replay', 'recovery', 'retry'], { description: 'Why it was queued.' }),
    attempt_count: Type.Integer({ minimum: 0 }),
    next_attempt_at: nullableInteger({
      description: 'When it is tried next; null when it is settled. Unix time in seconds.',
    }),
    attempts: Type.Array(
      Type.Object({
        at: unixSeconds('When it was sent.'),
        duration_ms: Type.Integer({ minimum: 0 }),
        status_code: nullableInteger({ description: 'What the receiver answered; null when it did not.' }),
        error: nullableString({ description: 'Why it failed, when it did.' }),
        response: nullableString({
          description: 'The first 1 kB of the answer; null for private addresses.',
        }),
      }),
      { description: 'Every attempt, oldest first.' },
    ),
    created: unixSeconds('When it was queued.'),
  },
  { title: 'Delivery', description: 'One event on its way to one endpoint. Replays make new ones.' },
);

export type Delivery = Static<typeof Delivery>;

export const listEndpointDeliveries = operation({
  method: 'GET',
  path: '/v1/webhook_endpoints/{id}/deliveries',
  tag: 'Deliveries',
  summary: 'List an endpoint’s deliveries',
  description: 'What was sent to it, and what came of it.',
  scope: 'read',
  params: Type.Object({ id: Type.String({ description: 'The endpoint’s `we_…` id.' }) }),
  query: listQuery({ status: Type.Optional(Type.Enum([...deliveryStatuses])) }),
  status: 200,
  response: listOf(Delivery, 'DeliveryList'),
  refusals: ['resource_missing', 'cursor_invalid'],
});

export const listEventDeliveries = operation({
  method: 'GET',
  path: '/v1/events/{id}/deliveries',
  tag: 'Deliveries',
  summary: 'List an event’s deliveries',
  description: 'To whom the event was sent, and what came of it.',
  scope: 'read',
  params: Type.Object({ id: Type.String({ description: 'The event’s `evt_…` id.' }) }),
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
  description: 'One delivery with its attempts.',
  scope: 'read',
  params: Type.Object({ id: Type.String({ description: 'The delivery’s `dlv_…` id.' }) }),
  status: 200,
  response: Delivery,
  refusals: ['resource_missing'],
});

export const retryDelivery = operation({
  method: 'POST',
  path: '/v1/deliveries/{id}/retry',
  tag: 'Deliveries',
  summary: 'Retry a delivery',
  description: 'Sends a pending one now; queues a new one for a failed or canceled one.',
  scope: 'write',
  params: Type.Object({ id: Type.String({ description: 'The delivery’s `dlv_…` id.' }) }),
  status: 202,
  response: Delivery,
  refusals: ['resource_missing', 'state_conflict'],
});

export const replayEvent = operation({
  method: 'POST',
  path: '/v1/events/{id}/replay',
  tag: 'Events',
  summary: 'Replay an event',
  description:
    'Delivers it again, same id and same bytes, to every endpoint that is enabled and subscribed now, or to the one that is named.',
  scope: 'write',
  params: Type.Object({ id: Type.String({ description: 'The event’s `evt_…` id.' }) }),
  body: Type.Object(
    { webhook_endpoint_id: Type.Optional(Type.String({ maxLength: 100, description: 'Only to this one.' })) },
    { additionalProperties: false },
  ),
  status: 202,
  response: Type.Object(
    { object: Type.Literal('event_replay'), event_id: eventId, deliveries: Type.Array(Delivery) },
    { title: 'EventReplay' },
  ),
  refusals: ['resource_missing', 'state_conflict'],
});
