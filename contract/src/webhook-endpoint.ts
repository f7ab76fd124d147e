import type { Static } from 'typebox';
import { currentApiVersion } from './api-version.ts';
import { exampleId, exampleTime, exampleUrl } from './example-values.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { descriptionInput, metadataInput, metadataSchema } from './metadata.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { idParams, nullableString, nullableUnixSeconds, unixSeconds } from './schema.ts';
import { oneLinePattern } from './text-patterns.ts';
import { Type } from './type.ts';

const example = {
  id: exampleId(idPrefixes.webhookEndpoint),
  object: 'webhook_endpoint',
  url: exampleUrl,
  enabled_event_types: ['esim.*', 'bundle.usage_threshold'],
  description: 'Production',
  metadata: {},
  ordering: 'none',
  status: 'enabled',
  disabled_at: null,
  failing_since: null,
  failure_count: 0,
  last_success_at: exampleTime + 60,
  last_error: null,
  next_attempt_at: null,
  missed_count: 0,
  missed_since: null,
  secrets: [{ created: exampleTime, expires_at: null }],
  api_version: currentApiVersion,
  created: exampleTime,
};
const exampleWithSecret = { ...example, secret: 'whsec_YW4gZXhhbXBsZSBvZiBhIHNpZ25pbmcgc2VjcmV0Li4=' };

/** Counting what an endpoint missed stops here. */
export const missedCountLimit = 1_000;

export const orderings = ['none', 'esim'] as const;

export type Ordering = (typeof orderings)[number];

const orderingDescription =
  '`none`: every event is sent immediately. `esim`: an event of an eSIM is sent only after the deliveries of that eSIM’s earlier events have ended, in the order of the event feed.';

export const WebhookEndpoint = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.webhookEndpoint) }),
    object: Type.Literal('webhook_endpoint'),
    url: Type.String({
      description: 'URL that receives deliveries.',
      examples: [exampleUrl],
    }),
    enabled_event_types: Type.Array(Type.String(), { examples: [['esim.provisioned', 'bundle.*']] }),
    description: nullableString({}),
    metadata: metadataSchema,
    ordering: Type.Enum([...orderings], { description: orderingDescription }),
    status: Type.Enum(['enabled', 'disabled']),
    disabled_reason: Type.Optional(
      Type.String({ description: 'Why Simplane disabled the endpoint, and what to fix.' }),
    ),
    disabled_at: nullableUnixSeconds('When the endpoint was disabled.'),
    failing_since: nullableUnixSeconds(
      'When the first attempt failed since the last success, or since the endpoint was enabled; null if none has failed.',
    ),
    failure_count: Type.Integer({ minimum: 0, description: 'Failed attempts since `failing_since`.' }),
    last_success_at: nullableUnixSeconds(
      'When a delivery last succeeded. May be up to a minute old while deliveries keep succeeding.',
    ),
    last_error: nullableString({
      description: 'Why the last attempt failed; null when the endpoint is not failing.',
      examples: ['connection refused', 'status 503'],
    }),
    next_attempt_at: nullableUnixSeconds(
      'When the next attempt is due; null when the endpoint is not failing or nothing is pending.',
    ),
    missed_count: Type.Integer({
      minimum: 0,
      description: `Events that the endpoint was subscribed to when they happened, has not received, and has no pending delivery of; counted up to ${missedCountLimit.toLocaleString('en')}. Enabling the endpoint does not change it; \`recover\` sends them.`,
    }),
    missed_since: nullableUnixSeconds('When the oldest of these events happened; null if there is none.'),
    secrets: Type.Array(
      Type.Object({
        created: unixSeconds('When the secret was created.'),
        expires_at: nullableUnixSeconds('When it stops signing; null for the current one.'),
      }),
      {
        description:
          'When the current signing secrets were created and expire, newest first. The secrets themselves are not shown.',
      },
    ),
    secret: Type.Optional(
      Type.String({
        pattern: '^whsec_',
        description: 'Secret that signs deliveries. Returned only on creation and rotation.',
      }),
    ),
    api_version: Type.String(),
    created: unixSeconds('When the endpoint was created.'),
  },
  {
    title: 'WebhookEndpoint',
    description: 'A URL of yours that receives events.',
    examples: [example],
  },
);

export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

const params = idParams(idPrefixes.webhookEndpoint, 'Id of the endpoint (`we_…`).');
const orderingInput = Type.Enum([...orderings], {
  description: `${orderingDescription} A change applies to new deliveries.`,
});
const url = Type.String({
  minLength: 1,
  maxLength: 2048,
  pattern: oneLinePattern,
  description: 'URL that receives deliveries. Live mode accepts only public `https` URLs.',
  examples: [exampleUrl],
});
const enabledEventTypes = Type.Array(
  Type.String({ pattern: '^(\\*|[a-z0-9_]+(\\.[a-z0-9_]+)*(\\.\\*)?)$', maxLength: 200 }),
  {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'Event types to deliver: names, families such as `esim.*`, or `["*"]` for all.',
    examples: [['*']],
  },
);

export const createWebhookEndpoint = operation({
  method: 'POST',
  path: '/v1/webhook_endpoints',
  tag: 'Webhook endpoints',
  summary: 'Create a webhook endpoint',
  description:
    'The response contains the signing secret. Only a retry with the same `Idempotency-Key` returns it again.',
  scope: 'write',
  audit: { action: 'webhook_endpoint.created', target: 'webhook_endpoint' },
  body: Type.Object(
    {
      url,
      enabled_event_types: enabledEventTypes,
      description: Type.Optional(descriptionInput),
      ordering: Type.Optional(orderingInput),
      metadata: Type.Optional(metadataInput),
    },
    {
      additionalProperties: false,
      examples: [
        {
          url: exampleUrl,
          enabled_event_types: ['esim.*', 'bundle.usage_threshold'],
          description: 'Production',
        },
      ],
    },
  ),
  status: 201,
  response: WebhookEndpoint,
  responseExample: exampleWithSecret,
  refusals: ['url_not_allowed', 'endpoint_limit_reached'],
});

export const listWebhookEndpoints = operation({
  method: 'GET',
  path: '/v1/webhook_endpoints',
  tag: 'Webhook endpoints',
  summary: 'List webhook endpoints',
  description: 'Returns the account’s endpoints, without their secrets.',
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
  description: 'Returns an endpoint. If Simplane disabled it, `disabled_reason` says what to fix.',
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
    'Changes the given fields only. `metadata` is merged; null removes a key. A null `description` clears it. `status: "disabled"` stops deliveries, `"enabled"` resumes them.',
  scope: 'write',
  audit: { action: 'webhook_endpoint.updated', target: 'webhook_endpoint' },
  params,
  body: Type.Object(
    {
      url: Type.Optional(url),
      enabled_event_types: Type.Optional(enabledEventTypes),
      description: Type.Optional(descriptionInput),
      ordering: Type.Optional(orderingInput),
      metadata: Type.Optional(metadataInput),
      status: Type.Optional(
        Type.Enum(['enabled', 'disabled'], { description: 'Stops or resumes deliveries.' }),
      ),
    },
    { additionalProperties: false, examples: [{ enabled_event_types: ['*'] }] },
  ),
  status: 200,
  response: WebhookEndpoint,
  responseExample: { ...example, enabled_event_types: ['*'] },
  refusals: ['resource_missing', 'url_not_allowed'],
});

export const deleteWebhookEndpoint = operation({
  method: 'DELETE',
  path: '/v1/webhook_endpoints/{id}',
  tag: 'Webhook endpoints',
  summary: 'Delete a webhook endpoint',
  description: 'Deletes the endpoint and cancels its pending deliveries.',
  scope: 'write',
  audit: { action: 'webhook_endpoint.deleted', target: 'webhook_endpoint' },
  params,
  status: 200,
  response: Type.Object(
    {
      id: Type.String({ pattern: idPattern(idPrefixes.webhookEndpoint) }),
      object: Type.Literal('webhook_endpoint'),
      deleted: Type.Boolean({ description: 'Always `true`.' }),
    },
    {
      title: 'DeletedWebhookEndpoint',
      description: 'Confirms that the endpoint is deleted.',
      examples: [{ id: example.id, object: 'webhook_endpoint', deleted: true }],
    },
  ),
  refusals: ['resource_missing'],
});

export const enableWebhookEndpoint = operation({
  method: 'POST',
  path: '/v1/webhook_endpoints/{id}/enable',
  tag: 'Webhook endpoints',
  summary: 'Enable a webhook endpoint',
  description:
    'Resumes delivery of new events. Fix the cause first; then use `recover` to deliver the missed events.',
  scope: 'write',
  audit: { action: 'webhook_endpoint.enabled', target: 'webhook_endpoint' },
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
  description: 'Returns a new secret. Deliveries are signed with both secrets until the old one expires.',
  scope: 'write',
  audit: { action: 'webhook_endpoint.secret_rotated', target: 'webhook_endpoint' },
  params,
  body: Type.Object(
    {
      expires_in: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 604_800,
          description: 'Seconds until the old secret expires. Defaults to one day; at most one week.',
          examples: [3600],
        }),
      ),
    },
    { additionalProperties: false, examples: [{ expires_in: 3600 }] },
  ),
  status: 200,
  response: WebhookEndpoint,
  responseExample: exampleWithSecret,
  refusals: ['resource_missing'],
});
