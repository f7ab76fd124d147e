import type { Static } from 'typebox';
import { exampleProductId } from './example-values.ts';
import { priceFields } from './product.ts';
import { nullableString } from './schema.ts';
import { Type } from './type.ts';

/** For requests that order something. */
export const dryRunInput = Type.Boolean({
  description:
    'Only checks the request: returns a `DryRun`, or the error that the order would get. Nothing is written, and the `Idempotency-Key` is ignored.',
  examples: [true],
});

export const DryRun = Type.Object(
  {
    object: Type.Literal('dry_run'),
    type: Type.Enum(['esim.provision', 'bundle.add'], {
      description: 'Type of the executions that would be accepted.',
    }),
    iccid: nullableString({ description: 'ICCID of the eSIM to top up; null for orders of eSIMs.' }),
    total: Type.Integer({ minimum: 1, description: 'How many executions would be accepted.' }),
    products: Type.Array(
      Type.Object({
        product_id: Type.String(),
        quantity: Type.Integer({ minimum: 1, description: 'How many executions order this product.' }),
        price: Type.Object(priceFields, { description: 'Price of one.' }),
      }),
      { description: 'The same by product.' },
    ),
    in_stock: Type.Unsafe<boolean | null>({
      type: ['boolean', 'null'],
      description:
        'False: the orders would be accepted, but some of them would fail with `out_of_stock`, because the operator’s ICCIDs are used up. Null if only the network knows.',
    }),
  },
  {
    title: 'DryRun',
    description: 'What would be accepted. Nothing was written.',
    examples: [
      {
        object: 'dry_run',
        type: 'esim.provision',
        iccid: null,
        total: 1,
        products: [{ product_id: exampleProductId, quantity: 1, price: { amount: 900, currency: 'eur' } }],
        in_stock: null,
      },
    ],
  },
);

export type DryRun = Static<typeof DryRun>;
