import { type Static, Type } from 'typebox';
import { idPattern, idPrefixes } from './ids.ts';
import { metadataSchema } from './metadata.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { nullableInteger, nullableString, unixSeconds } from './schema.ts';

export const WebhookEndpoint = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.webhookEndpoint) }),
    object: Type.Literal('webhook_endpoint'),
    url: Type.String({
      description: 'Where deliveries are sent.',
      examples: ['https://example.com/webhooks'],
    }),
    enabled_event_types: Type.Array(Type.String(), { examples: [['esim.provisioned', 'bundle.*']] }),
    description: nullableString({}),
    metadata: metadataSchema,
    status: Type.Enum(['enabled', 'disabled']),
    disabled_reason: Type.Optional(
      Type.String({ description: 'Present when we disabled it because it kept failing: what to fix.' }),
    ),
    disabled_at: nullableInteger({ description: 'Unix time in seconds.' }),
    secret: Type.Optional(
      Type.String({
        pattern: '^whsec_',
        description: 'What deliveries are signed with. In the answers to creation and rotation only.',
      }),
    ),
    api_version: Type.String(),
    created: unixSeconds('When it was created.'),
  },
  { title: 'WebhookEndpoint', description: 'A server of yours that is told what happens.' },
);

export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

const params = Type.Object({ id: Type.String({ description: 'The endpoint’s `we_…` id.' }) });
const url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Where deliveries are sent. Live takes public `https` only.',
  examples: ['https://example.com/webhooks'],
});
const enabledEventTypes = Type.Array(
  Type.String({ pattern: '^(\\*|[a-z0-9_]+(\\.[a-z0-9_]+)*(\\.\\*)?)$', maxLength: 200 }),
  {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'Type names, families such as `esim.*`, or `["*"]` for all.',
    examples: [['*']],
  },
);
const description = Type.String({ maxLength: 500 });

export const createWebhookEndpoint = operation({
  method: 'POST',
  path: '/v1/webhook_endpoints',
  tag: 'Webhook endpoints',
  summary: 'Create a webhook endpoint',
  description:
    'The answer holds the signing secret: it is shown this once, and again only to a retry with the same `Idempotency-Key`.',
  scope: 'write',
  body: Type.Object(
    {
      url,
      enabled_event_types: enabledEventTypes,
      description: Type.Optional(description),
      metadata: Type.Optional(metadataSchema),
    },
    { additionalProperties: false },
  ),
  status: 201,
  response: WebhookEndpoint,
  refusals: ['url_not_allowed', 'endpoint_limit_reached'],
});

export const listWebhookEndpoints = operation({
  method: 'GET',
  path: '/v1/webhook_endpoints',
  tag: 'Webhook endpoints',
  summary: 'List webhook endpoints',
  description: 'Every endpoint of the account, without secrets.',
  scope: 'read',
  query: listQuery({}),
  status: 200,
  response: listOf(WebhookEndpoint, 'WebhookEndpointList'),
  refusals: ['cursor_invalid'],
});

export const getWebhookEndpoint = operation({
  method: 'GET',
  path: '/v1/webhook_endpoints/{id}',
  tag: 'Webhook endpoints',
  summary: 'Get a webhook endpoint',
  description: 'How it stands; `disabled_reason` says what to fix when we disabled it.',
  scope: 'read',
  params,
  status: 200,
  response: WebhookEndpoint,
  refusals: ['resource_missing'],
});

export const updateWebhookEndpoint = operation({
  method: 'PATCH',
  path: '/v1/webhook_endpoints/{id}',
  tag: 'Webhook endpoints',
  summary: 'Update a webhook endpoint',
  description:
    'Changes what is given and leaves the rest. `metadata` is merged; an empty value removes a name. `status: "disabled"` stops deliveries, `"enabled"` starts them again.',
  scope: 'write',
  params,
  body: Type.Object(
    {
      url: Type.Optional(url),
      enabled_event_types: Type.Optional(enabledEventTypes),
      description: Type.Optional(description),
      metadata: Type.Optional(metadataSchema),
      status: Type.Optional(Type.Enum(['enabled', 'disabled'])),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: WebhookEndpoint,
  refusals: ['resource_missing', 'url_not_allowed'],
});

export const deleteWebhookEndpoint = operation({
  method: 'DELETE',
  path: '/v1/webhook_endpoints/{id}',
  tag: 'Webhook endpoints',
  summary: 'Delete a webhook endpoint',
  description: 'Cancels what was still to be delivered to it.',
  scope: 'write',
  params,
  status: 200,
  response: Type.Object(
    {
      id: Type.String({ pattern: idPattern(idPrefixes.webhookEndpoint) }),
      object: Type.Literal('webhook_endpoint'),
      deleted: Type.Literal(true),
    },
    { title: 'DeletedWebhookEndpoint' },
  ),
  refusals: ['resource_missing'],
});

export const enableWebhookEndpoint = operation({
  method: 'POST',
  path: '/v1/webhook_endpoints/{id}/enable',
  tag: 'Webhook endpoints',
  summary: 'Enable a webhook endpoint',
  description:
    'After the cause is fixed: new events are delivered again. `recover` brings what was missed meanwhile.',
  scope: 'write',
  params,
  status: 200,
  response: WebhookEndpoint,
  refusals: ['resource_missing'],
});

export const rotateWebhookSecret = operation({
  method: 'POST',
  path: '/v1/webhook_endpoints/{id}/rotate_secret',
  tag: 'Webhook endpoints',
  summary: 'Rotate the signing secret',
  description: 'Answers with a new secret. Until the old one expires, deliveries are signed with both.',
  scope: 'write',
  params,
  body: Type.Object(
    {
      expires_in: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 604_800,
          description:
            'For how many seconds the old secret goes on signing; a day when left out, a week at most.',
          examples: [3600],
        }),
      ),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: WebhookEndpoint,
  refusals: ['resource_missing'],
});

export const recoverWebhookEndpoint = operation({
  method: 'POST',
  path: '/v1/webhook_endpoints/{id}/recover',
  tag: 'Webhook endpoints',
  summary: 'Recover missed events',
  description:
    'Queues every event since then that the endpoint subscribes to and has not received. The endpoint must be enabled.',
  scope: 'write',
  params,
  body: Type.Object(
    {
      since: Type.Integer({
        minimum: 0,
        maximum: 253402300799,
        description: 'Unix time in seconds.',
        examples: [1_794_700_000],
      }),
    },
    { additionalProperties: false },
  ),
  status: 202,
  response: Type.Object(
    {
      object: Type.Literal('recovery'),
      webhook_endpoint_id: Type.String({ pattern: idPattern(idPrefixes.webhookEndpoint) }),
      since: unixSeconds('From when on.'),
    },
    { title: 'Recovery' },
  ),
  refusals: ['resource_missing', 'state_conflict'],
});
