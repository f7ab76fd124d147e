import { operations } from '@simplane/contract';
import { idArgument } from '../invalid-argument.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { defineTool, readOnly } from '../tool.ts';

const operation = operations.getWebhookEndpoint;

export const getWebhookEndpoint = defineTool({
  name: 'get_webhook_endpoint',
  title: 'Get a webhook endpoint',
  description:
    'Returns an endpoint without its secret. If status is disabled, nothing is delivered to it, and disabled_reason says ' +
    'what to fix. list_deliveries shows what was sent to it.',
  scope: operation.scope,
  annotations: readOnly,
  input: inputSchema({
    properties: { webhook_endpoint_id: operation.params.properties.id },
    required: ['webhook_endpoint_id'],
  }),
  output: outputSchema(operation),
  argumentNames: () => ({ id: 'webhook_endpoint_id' }),
  run: ({ simplane, signal }, args: { webhook_endpoint_id?: unknown }) =>
    simplane.webhookEndpoints.get(idArgument('webhook_endpoint_id', args.webhook_endpoint_id), { signal }),
});
