import type { Static } from 'typebox';
import { eventTypeFilter } from './event.ts';
import { exampleId, exampleTime } from './example-values.ts';
import { createdFilters, severalOf } from './filters.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { idParams, nullableUnixSeconds } from './schema.ts';
import { Type } from './type.ts';

/** Counting stops here. */
export const undeliveredLimit = 10_000;

const byType = Type.Array(Type.Object({ type: Type.String(), count: Type.Integer({ minimum: 1 }) }), {
  description: 'By event type, the most frequent first.',
});

const exampleTypes = [
  { type: 'esim.provisioned', count: 40 },
  { type: 'bundle.depleted', count: 8 },
];

export const Undelivered = Type.Object(
  {
    object: Type.Literal('undelivered'),
    webhook_endpoint_id: Type.String({ pattern: idPattern(idPrefixes.webhookEndpoint) }),
    event_count: Type.Integer({ minimum: 0, description: 'How many events are undelivered.' }),
    oldest: nullableUnixSeconds('When the oldest of them happened; null if there is none.'),
    types: byType,
    days: Type.Array(
      Type.Object({
        day: Type.String({ description: 'A day of UTC.', examples: ['2026-11-01'] }),
        count: Type.Integer({ minimum: 1 }),
        types: byType,
      }),
      { description: 'By the day on which they happened, oldest first.' },
    ),
    capped: Type.Boolean({
      description: `Whether counting stopped at ${undeliveredLimit.toLocaleString('en')}. It begins with the oldest events.`,
    }),
  },
  {
    title: 'Undelivered',
    description: 'What an endpoint did not receive.',
    examples: [
      {
        object: 'undelivered',
        webhook_endpoint_id: exampleId(idPrefixes.webhookEndpoint),
        event_count: 48,
        oldest: exampleTime,
        types: exampleTypes,
        days: [{ day: '2026-11-01', count: 48, types: exampleTypes }],
        capped: false,
      },
    ],
  },
);

export type Undelivered = Static<typeof Undelivered>;

export const getUndelivered = operation({
  method: 'GET',
  path: '/v1/webhook_endpoints/{id}/undelivered',
  tag: 'Webhook endpoints',
  summary: 'Count an endpoint’s undelivered events',
  description:
    'Counts the events that the endpoint was subscribed to when they happened, has not received, and has no pending delivery of: their deliveries failed or were canceled, or the endpoint was disabled. `recover` sends exactly these.',
  scope: 'read',
  params: idParams(idPrefixes.webhookEndpoint, 'Id of the endpoint (`we_…`).'),
  query: Type.Object(
    {
      type: Type.Optional(
        severalOf(eventTypeFilter, 'Only events of this type, or of a family such as `esim.*`.', [
          ['esim.*'],
        ]),
      ),
      ...createdFilters('events'),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: Undelivered,
  refusals: ['resource_missing'],
});
