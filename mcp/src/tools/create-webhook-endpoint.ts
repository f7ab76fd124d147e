import { type InputOf, operations } from '@simplane/contract';
import { idempotencyKey, splitKey, type WithKey } from '../idempotency-key.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { creating, defineTool } from '../tool.ts';

const operation = operations.createWebhookEndpoint;

export const createWebhookEndpoint = defineTool({
  name: 'create_webhook_endpoint',
  title: 'Create a webhook endpoint',
  description:
    'Registers a URL that receives signed events. The response contains the signing secret (whsec_…), and only this once: ' +
    'give it to the user or put it in the receiver’s configuration, and do not repeat it elsewhere.',
  scope: operation.scope,
  annotations: creating,
  input: inputSchema(operation.body, { idempotency_key: idempotencyKey }),
  output: outputSchema(operation),
  run: ({ simplane, signal }, args: WithKey<InputOf<typeof operation>['body']>) => {
    const { body, options } = splitKey(args);
    return simplane.webhookEndpoints.create(body, { ...options, signal });
  },
});
