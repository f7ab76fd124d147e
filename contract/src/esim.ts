import { Type } from 'typebox';
import { Execution } from './execution.ts';
import { operation } from './operation.ts';

const metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 20,
  propertyNames: { minLength: 1, maxLength: 40 },
  additionalProperties: { type: 'string', maxLength: 500 },
  description: 'Your own ids and notes: up to 20 pairs, names up to 40 characters, values up to 500.',
  examples: [{ order_id: 'A-1001' }],
});

export const createEsim = operation({
  method: 'POST',
  path: '/v1/esims',
  tag: 'eSIMs',
  summary: 'Provision an eSIM',
  description:
    'Accepts the order durably and answers at once with an execution. Send an `Idempotency-Key`: a retry after a ' +
    'timeout then never orders twice.',
  scope: 'write',
  body: Type.Object(
    {
      product_id: Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'The `id` of a product.',
        examples: ['prod_europe_5gb_30d'],
      }),
      metadata: Type.Optional(metadata),
      description: Type.Optional(Type.String({ maxLength: 500 })),
    },
    { additionalProperties: false },
  ),
  status: 202,
  response: Execution,
  refusals: ['resource_missing', 'state_conflict'],
});
