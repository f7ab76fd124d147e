import type { Static } from 'typebox';
import { exampleId, exampleTime } from './example-values.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { idParams, nullableInteger, unixSeconds } from './schema.ts';
import { Type } from './type.ts';

const counts = {
  succeeded_count: Type.Integer({ minimum: 0, description: 'Attempts with a 2xx response.' }),
  failed_count: Type.Integer({ minimum: 0, description: 'Attempts with another response or none.' }),
};
const exampleHour = {
  hour: exampleTime - (exampleTime % 3_600),
  succeeded_count: 1_180,
  failed_count: 3,
  p50_ms: 91,
  p99_ms: 431,
};

export const maxStatsHours = 720;

export const WebhookEndpointStats = Type.Object(
  {
    object: Type.Literal('webhook_endpoint_stats'),
    webhook_endpoint_id: Type.String({ pattern: idPattern(idPrefixes.webhookEndpoint) }),
    from: unixSeconds('Start of the first hour of the period.'),
    ...counts,
    p50_ms: nullableInteger({
      description: 'Median duration of the attempts, accurate to within 10 %; null without attempts.',
    }),
    p99_ms: nullableInteger({
      description: '99th percentile of the duration, accurate to within 10 %; null without attempts.',
    }),
    hours: Type.Array(
      Type.Object({
        hour: unixSeconds('Start of the hour.'),
        ...counts,
        p50_ms: Type.Integer({ minimum: 0 }),
        p99_ms: Type.Integer({ minimum: 0 }),
      }),
      { description: 'The hours with attempts, newest first.' },
    ),
  },
  {
    title: 'WebhookEndpointStats',
    description: 'Attempts of an endpoint per hour. Retries count, test requests do not.',
    examples: [
      {
        object: 'webhook_endpoint_stats',
        webhook_endpoint_id: exampleId(idPrefixes.webhookEndpoint),
        from: exampleHour.hour - 23 * 3_600,
        succeeded_count: 1_180,
        failed_count: 3,
        p50_ms: 91,
        p99_ms: 431,
        hours: [exampleHour],
      },
    ],
  },
);

export type WebhookEndpointStats = Static<typeof WebhookEndpointStats>;

export const getEndpointStats = operation({
  method: 'GET',
  path: '/v1/webhook_endpoints/{id}/stats',
  tag: 'Webhook endpoints',
  summary: 'Get an endpoint’s statistics',
  description:
    'Returns how many attempts succeeded and failed, and how long they took, per hour (UTC). An attempt is counted a few seconds after it ended.',
  scope: 'read',
  params: idParams(idPrefixes.webhookEndpoint, 'Id of the endpoint (`we_…`).'),
  query: Type.Object(
    {
      hours: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: maxStatsHours,
          default: 24,
          description: 'Length of the period in hours, including the current one.',
          examples: [24],
        }),
      ),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: WebhookEndpointStats,
  refusals: ['resource_missing'],
});
