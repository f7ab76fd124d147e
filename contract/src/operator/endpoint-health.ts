import type { Static } from 'typebox';
import { exampleId, exampleTime } from '../example-values.ts';
import { idPattern, idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { listOf, listQuery } from '../pagination.ts';
import { nullableInteger } from '../schema.ts';
import { Type } from '../type.ts';
import { WebhookEndpoint } from '../webhook-endpoint.ts';

const {
  id,
  url,
  status,
  disabled_reason,
  disabled_at,
  failing_since,
  failure_count,
  last_success_at,
  last_error,
  created,
} = WebhookEndpoint.properties;

export const EndpointHealth = Type.Object(
  {
    id,
    object: Type.Literal('endpoint_health'),
    account_id: Type.String({
      pattern: idPattern(idPrefixes.account),
      description: 'The account it belongs to.',
    }),
    url,
    status,
    disabled_reason,
    disabled_at,
    failing_since,
    failure_count,
    last_success_at,
    last_error,
    backlog: Type.Object({
      count: Type.Integer({
        minimum: 0,
        description: 'Deliveries that have not ended. At most 1,000 are counted.',
      }),
      age_seconds: nullableInteger({ description: 'Age of the oldest of them; null if there is none.' }),
    }),
    created,
  },
  {
    title: 'EndpointHealth',
    description: 'How deliveries to a webhook endpoint of an account are doing.',
    examples: [
      {
        id: exampleId(idPrefixes.webhookEndpoint),
        object: 'endpoint_health',
        account_id: exampleId(idPrefixes.account),
        url: 'https://example.com/webhooks',
        status: 'enabled',
        disabled_at: null,
        failing_since: exampleTime,
        failure_count: 12,
        last_success_at: exampleTime - 60,
        last_error: 'status 503',
        backlog: { count: 40, age_seconds: 600 },
        created: exampleTime - 86_400,
      },
    ],
  },
);

export type EndpointHealth = Static<typeof EndpointHealth>;

export const listEndpointHealth = operation({
  method: 'GET',
  path: '/v1/operator/endpoint_health',
  tag: 'Operator deployment',
  summary: 'List the health of all webhook endpoints',
  description: 'Returns the webhook endpoints of all accounts, with the backlog of each.',
  scope: 'operator',
  query: listQuery({
    status: Type.Optional(
      Type.Enum(['enabled', 'disabled'], { description: 'Only endpoints with this status.' }),
    ),
    failing: Type.Optional(
      Type.Boolean({
        description: 'Only endpoints whose last attempt failed (`true`), or only others (`false`).',
        examples: [true],
      }),
    ),
  }),
  status: 200,
  response: listOf(EndpointHealth, 'EndpointHealthList'),
  refusals: ['cursor_invalid'],
});
