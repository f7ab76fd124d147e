import type { Static } from 'typebox';
import { attemptFields, attemptOutcomes } from './delivery.ts';
import { exampleId, exampleTime } from './example-values.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { idParams } from './schema.ts';
import { Type } from './type.ts';

/** The type of the event in a test request. It is never in the event log, so it is not among the event types. */
export const probeEventType = 'webhook_endpoint.probe';

export const WebhookProbe = Type.Object(
  {
    object: Type.Literal('webhook_probe'),
    webhook_endpoint_id: Type.String({ pattern: idPattern(idPrefixes.webhookEndpoint) }),
    event_id: Type.String({
      pattern: idPattern(idPrefixes.event),
      description: 'The `id` in the body of the request. No such event is in the log.',
    }),
    outcome: Type.Enum([...attemptOutcomes], { description: '`succeeded`: the response was a 2xx.' }),
    ...attemptFields,
  },
  {
    title: 'WebhookProbe',
    description: 'The result of one test request to an endpoint.',
    examples: [
      {
        object: 'webhook_probe',
        webhook_endpoint_id: exampleId(idPrefixes.webhookEndpoint),
        event_id: exampleId(idPrefixes.event),
        outcome: 'succeeded',
        at: exampleTime,
        duration_ms: 184,
        status_code: 200,
        error: null,
        response: 'ok',
      },
    ],
  },
);

export type WebhookProbe = Static<typeof WebhookProbe>;

export const probeWebhookEndpoint = operation({
  method: 'POST',
  path: '/v1/webhook_endpoints/{id}/probe',
  tag: 'Webhook endpoints',
  summary: 'Send a test request',
  description:
    'Sends one request now, signed like a delivery, with an event of type `webhook_endpoint.probe`, and returns what happened. Works in live mode and for a disabled endpoint, and changes neither its health nor its statistics.',
  scope: 'write',
  audit: { action: 'webhook_endpoint.probed', target: 'webhook_endpoint' },
  params: idParams(idPrefixes.webhookEndpoint, 'Id of the endpoint (`we_…`).'),
  status: 200,
  response: WebhookProbe,
  refusals: ['resource_missing'],
});
