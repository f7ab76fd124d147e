import type { Static } from 'typebox';
import { Event, eventTypeFilter } from './event.ts';
import { exampleEvent } from './event-types.ts';
import { exampleTime } from './example-values.ts';
import { severalOf } from './filters.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { nullableUnixSeconds, unixSeconds, unixSecondsInput } from './schema.ts';
import { Type } from './type.ts';

export const feedLimits = { page: { default: 100, maximum: 1_000 }, waitSeconds: 30 } as const;

export const exampleCursor = 'Hq3xT0mZAAAAAAAABNJf1wK2';

export const EventFeed = Type.Object(
  {
    object: Type.Literal('event_feed'),
    data: Type.Array(Event, { description: 'Events after `after`, oldest first.' }),
    cursor: Type.String({
      description: 'Your place after these events. Send it as `after` in the next call. Always present.',
      examples: [exampleCursor],
    }),
    caught_up: Type.Boolean({ description: 'Whether there are no more events yet.' }),
  },
  {
    title: 'EventFeed',
    description: 'A part of the event log in its final order. Nothing is ever inserted before a cursor.',
    examples: [
      {
        object: 'event_feed',
        data: [exampleEvent('esim.provisioned')],
        cursor: exampleCursor,
        caught_up: true,
      },
    ],
  },
);

export type EventFeed = Static<typeof EventFeed>;

const after = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Where to begin: a cursor, `start` (the oldest event kept) or `now`.',
  examples: ['start'],
});

export const readEventFeed = operation({
  method: 'GET',
  path: '/v1/events/feed',
  tag: 'Event feed',
  summary: 'Follow the event feed',
  description:
    'Returns events oldest first, each once and without gaps. With `wait`, the response waits for an event if there is none yet. With `Accept: text/event-stream`, the events arrive as a stream of server-sent events whose `id` is the cursor; `Last-Event-ID` resumes it.',
  scope: 'read',
  query: Type.Object(
    {
      after: Type.Optional(after),
      since: Type.Optional(
        unixSecondsInput('Instead of `after`: begin with the first event created at or after this time.', {
          examples: [exampleTime],
        }),
      ),
      consumer: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description:
            'Instead of `after` and `type`: begin at the place of this consumer, with its event types.',
          examples: ['billing'],
        }),
      ),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: feedLimits.page.maximum,
          default: feedLimits.page.default,
          description: 'Maximum number of events to return. Streams ignore it.',
          examples: [100],
        }),
      ),
      wait: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: feedLimits.waitSeconds,
          default: 0,
          description: 'How many seconds to wait for an event if there is none yet.',
          examples: [20],
        }),
      ),
      type: Type.Optional(
        severalOf(eventTypeFilter, 'Only events of this type, or of a family such as `esim.*`.', [
          ['esim.*'],
        ]),
      ),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: EventFeed,
  streams: true,
  refusals: ['cursor_invalid', 'cursor_expired', 'stream_limit_reached', 'resource_missing'],
});

const consumerExample = {
  name: 'billing',
  object: 'event_consumer',
  type: ['bundle.*'],
  cursor: exampleCursor,
  behind: 12,
  oldest_unacknowledged_at: exampleTime,
  created: exampleTime,
};

export const EventConsumer = Type.Object(
  {
    name: Type.String({ description: 'Name that you chose.' }),
    object: Type.Literal('event_consumer'),
    type: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'The event types it reads; null for all.',
    }),
    cursor: Type.String({ description: 'Its place: everything up to here is acknowledged.' }),
    behind: Type.Integer({
      minimum: 0,
      description: 'How many events, of all types, come after its place.',
    }),
    oldest_unacknowledged_at: nullableUnixSeconds(
      'When the first event after its place was created; null if there is none, or if it has been removed.',
    ),
    created: unixSeconds('When the consumer was created.'),
  },
  {
    title: 'EventConsumer',
    description: 'A named place in the event feed, stored for one of your programs.',
    examples: [consumerExample],
  },
);

export type EventConsumer = Static<typeof EventConsumer>;

const params = Type.Object({
  name: Type.String({ description: 'Name of the consumer.', examples: ['billing'] }),
});
export const consumerNamePattern = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$';

export const putEventConsumer = operation({
  method: 'PUT',
  path: '/v1/event_consumers/{name}',
  tag: 'Event feed',
  summary: 'Create a consumer',
  description:
    'Creates a consumer at the place `after`. If one with this name exists, returns it unchanged. The name has up to 100 letters, digits, `_`, `.` and `-`.',
  scope: 'write',
  audit: { action: 'event_consumer.created', target: 'event_consumer' },
  params,
  body: Type.Object(
    {
      after: Type.Optional({ ...after, default: 'now' }),
      type: Type.Optional(
        Type.Array(eventTypeFilter, {
          minItems: 1,
          maxItems: 50,
          uniqueItems: true,
          description: 'Event types to read: names, or families such as `esim.*`. All if omitted.',
          examples: [['bundle.*']],
        }),
      ),
    },
    { additionalProperties: false, examples: [{ after: 'start', type: ['bundle.*'] }] },
  ),
  status: 200,
  response: EventConsumer,
  refusals: ['cursor_invalid', 'cursor_expired', 'consumer_limit_reached'],
});

export const listEventConsumers = operation({
  method: 'GET',
  path: '/v1/event_consumers',
  tag: 'Event feed',
  summary: 'List consumers',
  description: 'Returns the account’s consumers by name, and how far behind each one is.',
  scope: 'read',
  query: listQuery({}),
  status: 200,
  response: listOf(EventConsumer, 'EventConsumerList', 'by name'),
  refusals: ['cursor_invalid'],
});

export const getEventConsumer = operation({
  method: 'GET',
  path: '/v1/event_consumers/{name}',
  tag: 'Event feed',
  summary: 'Get a consumer',
  description: 'Returns a consumer and how far behind it is.',
  scope: 'read',
  params,
  status: 200,
  response: EventConsumer,
  refusals: ['resource_missing'],
});

export const deleteEventConsumer = operation({
  method: 'DELETE',
  path: '/v1/event_consumers/{name}',
  tag: 'Event feed',
  summary: 'Delete a consumer',
  description: 'Deletes the consumer and its place in the feed. No events are deleted.',
  scope: 'write',
  audit: { action: 'event_consumer.deleted', target: 'event_consumer' },
  params,
  status: 200,
  response: Type.Object(
    {
      name: Type.String(),
      object: Type.Literal('event_consumer'),
      deleted: Type.Boolean({ description: 'Always `true`.' }),
    },
    {
      title: 'DeletedEventConsumer',
      description: 'A consumer that no longer exists.',
      examples: [{ name: 'billing', object: 'event_consumer', deleted: true }],
    },
  ),
  refusals: ['resource_missing'],
});

export const acknowledgeEvents = operation({
  method: 'POST',
  path: '/v1/event_consumers/{name}/ack',
  tag: 'Event feed',
  summary: 'Acknowledge events',
  description:
    'Moves the consumer forward to `cursor`. A cursor behind its place is refused: another program is using the same name.',
  scope: 'write',
  audit: { action: 'event_consumer.acknowledged', target: 'event_consumer' },
  params,
  body: Type.Object(
    {
      cursor: Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'The `cursor` that you received with the last event you have processed.',
        examples: [exampleCursor],
      }),
    },
    { additionalProperties: false, examples: [{ cursor: exampleCursor }] },
  ),
  status: 200,
  response: EventConsumer,
  refusals: ['resource_missing', 'cursor_invalid', 'cursor_expired', 'cursor_behind'],
});

export const seekEventConsumer = operation({
  method: 'POST',
  path: '/v1/event_consumers/{name}/seek',
  tag: 'Event feed',
  summary: 'Move a consumer',
  description: 'Moves the consumer to any place, back or forward.',
  scope: 'write',
  audit: { action: 'event_consumer.moved', target: 'event_consumer' },
  params,
  body: Type.Object({ after }, { additionalProperties: false, examples: [{ after: 'start' }] }),
  status: 200,
  response: EventConsumer,
  refusals: ['resource_missing', 'cursor_invalid', 'cursor_expired'],
});
