import { operations } from '@simplane/contract';
import { idempotencyKey, splitKey, type WithKey } from '../idempotency-key.ts';
import { InvalidArgument } from '../invalid-argument.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { creating, defineTool } from '../tool.ts';

const operation = operations.createBatch;

/** A tenth of what the API takes: an agent that misreads a number in a text should not order a thousand eSIMs. */
const maxQuantity = 100;

const { product_id, quantity } = operation.body.properties;

export const provisionBatch = defineTool({
  name: 'provision_batch',
  title: 'Provision several eSIMs',
  description:
    `Orders up to ${maxQuantity} eSIMs of one product: all are accepted, or none. Immediately returns a batch; get_batch shows how ` +
    'many have succeeded, failed or are open. In a live deployment this costs money, so confirm product and quantity with the user. ' +
    'More at once need the API or the command line.',
  scope: operation.scope,
  annotations: creating,
  input: inputSchema(
    {
      properties: { product_id, quantity: { ...quantity, maximum: maxQuantity, examples: [5] } },
      required: ['product_id', 'quantity'],
    },
    { idempotency_key: idempotencyKey },
  ),
  output: outputSchema(operation),
  run: ({ simplane, signal }, args: WithKey<{ product_id: string; quantity: number }>) => {
    const { body, options } = splitKey(args);
    if (typeof body.quantity === 'number' && body.quantity > maxQuantity) {
      throw new InvalidArgument('quantity', `quantity must be at most ${maxQuantity}; got ${body.quantity}.`);
    }
    return simplane.batches.create(body, { ...options, signal });
  },
});
