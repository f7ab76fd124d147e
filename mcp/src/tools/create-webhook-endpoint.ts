import { type InputOf, operations } from '@simplane/contract';
import { idempotencyKey, splitKey, type WithKey } from '../idempotency-key.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { adding, defineTool } from '../tool.ts';

const operation = operations.createWebhookEndpoint;

export const createWebhookEndpoint = defineTool({
  name: 'create_webhook_endpoint',
  title: 'Create a webhook endpoint',
  description:
    'Registers a URL that events are delivered to, signed. The answer holds the signing secret (whsec_…), this once: ' +
    'hand it to the user or to the receiver’s configuration, and do not repeat it elsewhere.',
  annotations: adding,
  input: inputSchema(operation.body, { idempotency_key: idempotencyKey }),
  output: outputSchema(operation),
  run: ({ simplane, signal }, args: WithKey<InputOf<typeof operation>['body']>) => {
    const { body, options } = splitKey(args);
    return simplane.webhookEndpoints.create(body, { ...options, signal });
  },
});
