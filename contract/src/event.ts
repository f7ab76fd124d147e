import type { Static } from 'typebox';
import { eventTypePattern, eventTypes, exampleEvent } from './event-types.ts';
import { exampleIccid, exampleId } from './example-values.ts';
import { createdFilters, severalOf } from './filters.ts';
import { iccid } from './iccid.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { referenceFilter } from './reference.ts';
import { idParams, unixSeconds } from './schema.ts';
import { Type } from './type.ts';

/** A type, or a family such as `esim.*`. */
export const eventTypeFilter = Type.String({
  pattern: '^[a-z0-9_]+(\\.[a-z0-9_]+)*(\\.\\*)?$',
  maxLength: 200,
});

export const Event = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.event) }),
    type: Type.String({ pattern: eventTypePattern, examples: ['esim.provisioned'] }),
    object: Type.Literal('event'),
    created: unixSeconds('When the event happened.'),
    data: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Correlation ids and little else. Fetch the current state from the API.',
    }),
  },
  {
    title: 'Event',
    description: 'Something that happened. Webhooks deliver it exactly as it is stored in the event log.',
    examples: [exampleEvent('esim.provisioned')],
  },
);

export type Event = Static<typeof Event>;

export const EventType = Type.Object(
  {
    type: Type.String({ pattern: eventTypePattern }),
    object: Type.Literal('event_type'),
    description: Type.String(),
    data: Type.Array(Type.String(), { description: 'Fields that `data` can contain.' }),
  },
  {
    title: 'EventType',
    description: 'A type of event, and what its `data` contains.',
    examples: [
      {
        type: 'esim.provisioned',
        object: 'event_type',
        description: eventTypes['esim.provisioned'].description,
        data: eventTypes['esim.provisioned'].data,
      },
    ],
  },
);

/** What became of an event at its endpoints. */
export const deliveryStates = ['pending', 'failed', 'canceled', 'undelivered'] as const;

export const listEvents = operation({
  method: 'GET',
  path: '/v1/events',
  tag: 'Events',
  summary: 'List events',
  description: 'Returns the event log.',
  scope: 'read',
  query: listQuery({
    type: Type.Optional(
      severalOf(eventTypeFilter, 'Only events of this type, or of a family such as `esim.*`.', [
        ['esim.*', 'bundle.depleted'],
      ]),
    ),
    ...createdFilters('events'),
    delivery: Type.Optional(
      Type.Enum([...deliveryStates], {
        description:
          'Only events with a delivery in this status. `undelivered`: an endpoint that was subscribed when the event happened has not received it, and no delivery is pending, also because the endpoint was disabled.',
      }),
    ),
    iccid: Type.Optional(Type.String({ ...iccid, description: 'Only events of the eSIM with this ICCID.' })),
    execution_id: Type.Optional(
      Type.String({
        pattern: idPattern(idPrefixes.execution),
        description: 'Only events that this execution caused.',
        examples: [exampleId(idPrefixes.execution)],
      }),
    ),
    reference: Type.Optional(referenceFilter('events')),
  }),
  status: 200,
  response: listOf(Event, 'EventList'),
  refusals: ['cursor_invalid'],
});

export const getEvent = operation({
  method: 'GET',
  path: '/v1/events/{id}',
  tag: 'Events',
  summary: 'Get an event',
  description: 'Returns an event, byte for byte as it is delivered.',
  scope: 'read',
  params: idParams(idPrefixes.event, 'Id of the event (`evt_…`).'),
  status: 200,
  response: Event,
  refusals: ['resource_missing'],
});

export const listEventTypes = operation({
  method: 'GET',
  path: '/v1/event_types',
  tag: 'Events',
  summary: 'List event types',
  description: 'Returns every event type and the fields of its `data`.',
  scope: 'read',
  query: listQuery({}),
  status: 200,
  response: listOf(EventType, 'EventTypeList'),
  refusals: ['cursor_invalid'],
});

export const sendTestEvent = operation({
  method: 'POST',
  path: '/v1/events/test',
  tag: 'Events',
  summary: 'Send a test event',
  description: 'Publishes a custom event through the same pipeline as real events. Sandbox only.',
  scope: 'write',
  audit: { action: 'event.test_sent', target: 'event' },
  body: Type.Object(
    {
      type: Type.String({
        pattern: eventTypePattern,
        maxLength: 200,
        description: 'Any well-formed event type name.',
        examples: ['esim.provisioned'],
      }),
      data: Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description:
          'Delivered equal as JSON: spaces and the notation of numbers may differ. Send integers beyond 2^53 as strings.',
        examples: [{ iccid: exampleIccid }],
      }),
    },
    {
      additionalProperties: false,
      examples: [{ type: 'esim.provisioned', data: exampleEvent('esim.provisioned').data }],
    },
  ),
  status: 202,
  response: Event,
  refusals: ['sandbox_only'],
});
