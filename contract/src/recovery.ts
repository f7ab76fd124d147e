import type { Static } from 'typebox';
import { eventTypeFilter } from './event.ts';
import { exampleId, exampleTime } from './example-values.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { idParams, nullableUnixSeconds, unixSeconds, unixSecondsInput } from './schema.ts';
import { Type } from './type.ts';

const example = {
  id: exampleId(idPrefixes.recovery),
  object: 'recovery',
  webhook_endpoint_id: exampleId(idPrefixes.webhookEndpoint),
  status: 'succeeded',
  since: exampleTime,
  until: null,
  types: null,
  progress_percent: 100,
  checked_count: 1_200,
  queued_count: 48,
  created: exampleTime + 3_600,
  finished_at: exampleTime + 3_602,
};
const queuedExample = {
  ...example,
  status: 'queued',
  progress_percent: 0,
  checked_count: 0,
  queued_count: 0,
  finished_at: null,
};

const endpointParams = idParams(idPrefixes.webhookEndpoint, 'Id of the endpoint (`we_…`).');

export const Recovery = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.recovery) }),
    object: Type.Literal('recovery'),
    webhook_endpoint_id: Type.String({ pattern: idPattern(idPrefixes.webhookEndpoint) }),
    status: Type.Enum(['queued', 'running', 'succeeded', 'canceled'], {
      description:
        '`succeeded`: every missed event is queued for delivery. `canceled`: the endpoint was disabled or deleted before that.',
    }),
    since: unixSeconds('Start of the recovered period.'),
    until: nullableUnixSeconds('End of the recovered period; null if it is when the recovery was requested.'),
    types: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'Only events of these types and families; null for all.',
    }),
    progress_percent: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'How much of the period has been searched. The search begins with the newest events.',
    }),
    checked_count: Type.Integer({ minimum: 0, description: 'Events searched so far, of all types.' }),
    queued_count: Type.Integer({
      minimum: 0,
      description: 'Missed events found and queued for delivery so far.',
    }),
    created: unixSeconds('When the recovery was requested.'),
    finished_at: nullableUnixSeconds('When it succeeded or was canceled.'),
  },
  {
    title: 'Recovery',
    description: 'A search for the events that an endpoint missed, which queues them for delivery.',
    examples: [example],
  },
);

export type Recovery = Static<typeof Recovery>;

/** A preview stops counting here. */
export const previewLimit = 10_000;

export const RecoveryPreview = Type.Object(
  {
    object: Type.Literal('recovery_preview'),
    webhook_endpoint_id: Type.String({ pattern: idPattern(idPrefixes.webhookEndpoint) }),
    since: unixSeconds('Start of the searched period.'),
    event_count: Type.Integer({ minimum: 0, description: 'Events that a recovery would queue now.' }),
    types: Type.Array(Type.Object({ type: Type.String(), count: Type.Integer({ minimum: 1 }) }), {
      description: 'The same by event type, the most frequent first.',
    }),
    capped: Type.Boolean({
      description:
        'Whether counting stopped early: at 10,000 events to queue, or with `since` at 50,000 searched. With `since`, counting begins with the newest events, otherwise with the oldest.',
    }),
  },
  {
    title: 'RecoveryPreview',
    description: 'What a recovery would queue. Nothing is stored or sent.',
    examples: [
      {
        object: 'recovery_preview',
        webhook_endpoint_id: exampleId(idPrefixes.webhookEndpoint),
        since: exampleTime,
        event_count: 48,
        types: [
          { type: 'esim.provisioned', count: 40 },
          { type: 'bundle.depleted', count: 8 },
        ],
        capped: false,
      },
    ],
  },
);

export type RecoveryPreview = Static<typeof RecoveryPreview>;

export const recoverWebhookEndpoint = operation({
  method: 'POST',
  path: '/v1/webhook_endpoints/{id}/recover',
  tag: 'Webhook endpoints',
  summary: 'Recover missed events',
  description:
    'Queues what the endpoint has not received. Without `since`: every event that it was subscribed to when it happened, as `GET …/undelivered` counts them. With `since`: every event since then that it subscribes to now. The endpoint must be enabled. Runs in the background; get the recovery to see its progress. With `dry_run`, only counts what would be queued and returns 200; this works for a disabled endpoint too.',
  scope: 'write',
  audit: { action: 'webhook_endpoint.recovery_started', target: 'webhook_endpoint' },
  params: endpointParams,
  body: Type.Object(
    {
      since: Type.Optional(
        unixSecondsInput('Start of the period to recover, not in the future.', { examples: [exampleTime] }),
      ),
      until: Type.Optional(
        unixSecondsInput('Only events before this time.', { examples: [exampleTime + 3_600] }),
      ),
      types: Type.Optional(
        Type.Array(eventTypeFilter, {
          minItems: 1,
          maxItems: 50,
          description: 'Only events of these types, or of families such as `esim.*`.',
          examples: [['esim.*']],
        }),
      ),
      dry_run: Type.Optional(
        Type.Boolean({ description: 'Returns a `RecoveryPreview` and changes nothing.' }),
      ),
    },
    { additionalProperties: false, examples: [{}] },
  ),
  status: 202,
  alsoReturns: { status: 200, response: RecoveryPreview },
  response: Type.Unsafe<Recovery | RecoveryPreview>({
    anyOf: [Recovery, RecoveryPreview],
    title: 'RecoverResult',
    description: 'The recovery, or with `dry_run` its preview.',
    examples: [queuedExample],
  }),
  refusals: ['resource_missing', 'state_conflict'],
});

export const listEndpointRecoveries = operation({
  method: 'GET',
  path: '/v1/webhook_endpoints/{id}/recoveries',
  tag: 'Webhook endpoints',
  summary: 'List an endpoint’s recoveries',
  description: 'Returns the recoveries of an endpoint.',
  scope: 'read',
  params: endpointParams,
  query: listQuery({}),
  status: 200,
  response: listOf(Recovery, 'RecoveryList'),
  refusals: ['resource_missing', 'cursor_invalid'],
});

export const getRecovery = operation({
  method: 'GET',
  path: '/v1/recoveries/{id}',
  tag: 'Webhook endpoints',
  summary: 'Get a recovery',
  description: 'Returns a recovery with its counts and progress.',
  scope: 'read',
  params: idParams(idPrefixes.recovery, 'Id of the recovery (`rec_…`).'),
  status: 200,
  response: Recovery,
  refusals: ['resource_missing'],
});
