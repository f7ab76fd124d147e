import { type Static, Type } from 'typebox';
import { eventTypePattern } from './event-types.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { unixSeconds } from './schema.ts';

export const Event = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.event) }),
    type: Type.String({ pattern: eventTypePattern, examples: ['esim.provisioned'] }),
    object: Type.Literal('event'),
    created: unixSeconds('When it happened.'),
    data: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Correlation ids and little else; fetch the current state from the API.',
      examples: [{ iccid: '8999901000000000018', product_id: 'prod_europe_5gb_30d' }],
    }),
  },
  {
    title: 'Event',
    description: 'Something that happened. Delivered by webhook exactly as it stands in the log.',
  },
);

export type Event = Static<typeof Event>;

export const EventType = Type.Object(
  {
    type: Type.String({ pattern: eventTypePattern }),
    object: Type.Literal('event_type'),
    description: Type.String(),
    data: Type.Array(Type.String(), { description: 'The fields that `data` may carry.' }),
  },
  { title: 'EventType' },
);

export const listEvents = operation({
  method: 'GET',
  path: '/v1/events',
  tag: 'Events',
  summary: 'List events',
  description: 'The event log.',
  scope: 'read',
  query: listQuery({
    type: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9_]+(\\.[a-z0-9_]+)*(\\.\\*)?$',
        maxLength: 200,
        description: 'One type, or a family such as `esim.*`.',
      }),
    ),
    'created[gte]': Type.Optional(
      Type.Integer({ minimum: 0, maximum: 253402300799, description: 'Not before. Unix time in seconds.' }),
    ),
    'created[lt]': Type.Optional(
      Type.Integer({ minimum: 0, maximum: 253402300799, description: 'Before. Unix time in seconds.' }),
    ),
    delivery: Type.Optional(
      Type.Enum(['failed', 'pending'], {
        description: 'Only those with a delivery that failed, or that is still on its way.',
      }),
    ),
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
  description: 'One event, byte for byte as it is delivered.',
  scope: 'read',
  params: Type.Object({ id: Type.String({ description: 'The event’s `evt_…` id.' }) }),
  status: 200,
  response: Event,
  refusals: ['resource_missing'],
});

export const listEventTypes = operation({
  method: 'GET',
  path: '/v1/event_types',
  tag: 'Events',
  summary: 'List event types',
  description: 'Every type of event there is, with the fields of its data.',
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
  description: 'Publishes an event of your making through the same path as real ones. Sandbox only.',
  scope: 'write',
  body: Type.Object(
    {
      type: Type.String({
        pattern: eventTypePattern,
        maxLength: 200,
        description: 'Any well-formed name.',
        examples: ['esim.provisioned'],
      }),
      data: Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description: 'Delivered untouched.',
        examples: [{ iccid: '8999901000000000018' }],
      }),
    },
    { additionalProperties: false },
  ),
  status: 202,
  response: Event,
  refusals: ['sandbox_only'],
});
