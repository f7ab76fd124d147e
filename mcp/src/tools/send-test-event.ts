import { type InputOf, operations } from '@simplane/contract';
import { idempotencyKey, splitKey, type WithKey } from '../idempotency-key.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { creating, defineTool } from '../tool.ts';

const operation = operations.sendTestEvent;

export const sendTestEvent = defineTool({
  name: 'send_test_event',
  title: 'Send a test event',
  description:
    'Publishes a custom event through the real delivery pipeline: it is logged, signed and sent to every ' +
    'endpoint subscribed to its type. Sandbox only; a live deployment refuses it.',
  scope: operation.scope,
  annotations: creating,
  input: inputSchema(operation.body, { idempotency_key: idempotencyKey }),
  output: outputSchema(operation),
  run: ({ simplane, signal }, args: WithKey<InputOf<typeof operation>['body']>) => {
    const { body, options } = splitKey(args);
    return simplane.events.sendTest(body, { ...options, signal });
  },
});
