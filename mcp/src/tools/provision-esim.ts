import { type InputOf, operations } from '@simplane/contract';
import { idempotencyKey, splitKey, type WithKey } from '../idempotency-key.ts';
import { inputSchema, omit, outputSchema } from '../schema.ts';
import { creating, defineTool } from '../tool.ts';

const operation = operations.createEsim;

export const provisionEsim = defineTool({
  name: 'provision_esim',
  title: 'Provision an eSIM',
  description:
    'Orders an eSIM for a product. Immediately returns an execution; the eSIM is ready when the execution has succeeded ' +
    '(get_execution with wait_seconds), and an esim.provisioned event follows. In a live deployment this costs money. ' +
    'list_products returns the product ids.',
  scope: operation.scope,
  annotations: creating,
  // Without `dry_run`, whose answer has another schema.
  input: inputSchema(omit(operation.body, 'dry_run'), { idempotency_key: idempotencyKey }),
  output: outputSchema(operation),
  run: ({ simplane, signal }, args: WithKey<Omit<InputOf<typeof operation>['body'], 'dry_run'>>) => {
    const { body, options } = splitKey(args);
    return simplane.esims.create(body, { ...options, signal });
  },
});
