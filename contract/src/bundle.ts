import type { Static } from 'typebox';
import { DryRun, dryRunInput } from './dry-run.ts';
import { exampleBytes, exampleIccid, exampleId, exampleProductId, exampleTime } from './example-values.ts';
import { Execution, queuedExample } from './execution.ts';
import { iccid, iccidParams } from './iccid.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { priceFields } from './product.ts';
import { referenceInput, referenceSchema } from './reference.ts';
import { nullableInteger, nullableObject, nullableUnixSeconds } from './schema.ts';
import { AfterDepletion } from './service.ts';
import { Type } from './type.ts';

export const bundleStatuses = ['queued', 'active', 'depleted', 'expired', 'canceled'] as const;

export type BundleStatus = (typeof bundleStatuses)[number];

export const defaultThresholds = [50, 80, 100];

const bundleExample = {
  id: exampleId(idPrefixes.bundle),
  object: 'bundle',
  iccid: exampleIccid,
  product_id: exampleProductId,
  reference: 'TRV-1007',
  status: 'active',
  countries: ['DE', 'FR', 'IT'],
  price: { amount: 900, currency: 'eur' },
  data_bytes: exampleBytes.data,
  used_bytes: exampleBytes.used,
  thresholds: defaultThresholds,
  after_depletion: { action: 'throttle', kbps: 128 },
  activated_at: exampleTime,
  expires_at: exampleTime + 30 * 86_400,
  as_of: exampleTime + 3_600,
};

export const Bundle = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.bundle) }),
    object: Type.Literal('bundle'),
    iccid,
    product_id: Type.String({ description: 'Product that was bought.' }),
    reference: referenceSchema,
    status: Type.Enum([...bundleStatuses], {
      description:
        '`queued` until data is used, or the eSIM attaches, in one of its countries while no active bundle covers that. Several bundles can be active.',
    }),
    countries: Type.Array(Type.String(), {
      description:
        'Countries where usage counts on the bundle, as ISO 3166-1 alpha-2 codes: those of the product when it was bought.',
    }),
    price: nullableObject(priceFields, {
      description:
        'Price of the product when it was ordered; null if it was ordered before prices were stored.',
    }),
    data_bytes: nullableInteger({ description: 'Data allowance in bytes; null means unlimited.' }),
    used_bytes: Type.Integer({
      minimum: 0,
      description:
        'Bytes used, never more than `data_bytes`. Each usage record counts once; what no bundle covers is in `uncovered_bytes` of the eSIM.',
    }),
    thresholds: Type.Array(Type.Integer(), {
      description: 'Usage percentages at which a `bundle.usage_threshold` event is sent.',
    }),
    after_depletion: {
      ...AfterDepletion,
      description: 'What the network does once the data is used up: that of the product when it was bought.',
    },
    activated_at: nullableUnixSeconds('When the bundle became active.'),
    expires_at: nullableUnixSeconds('When the bundle expires, unless it is used up before.'),
    as_of: nullableUnixSeconds('Time of the newest usage record in `used_bytes`.'),
  },
  {
    title: 'Bundle',
    description: 'A data allowance on an eSIM, and how much of it is used.',
    examples: [bundleExample],
  },
);

export type Bundle = Static<typeof Bundle>;

export const listBundles = operation({
  method: 'GET',
  path: '/v1/esims/{iccid}/bundles',
  tag: 'Bundles',
  summary: 'List an eSIM’s bundles',
  description: 'Returns the eSIM’s bundles with their usage.',
  scope: 'read',
  params: iccidParams,
  query: listQuery({}),
  status: 200,
  response: listOf(Bundle, 'BundleList'),
  refusals: ['resource_missing', 'cursor_invalid'],
});

export const addBundle = operation({
  method: 'POST',
  path: '/v1/esims/{iccid}/bundles',
  tag: 'Bundles',
  summary: 'Top up an eSIM',
  description:
    'Adds a bundle. It stays queued while another bundle that covers the eSIM’s country is active. A product that covers no country of the eSIM’s own product is refused unless `any_region` is true.',
  scope: 'write',
  audit: { action: 'esim.top_up_ordered', target: 'esim' },
  params: iccidParams,
  body: Type.Object(
    {
      product_id: Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Id of the product to add.',
        examples: ['prod_europe_5gb_30d'],
      }),
      reference: Type.Optional(referenceInput),
      thresholds: Type.Optional(
        Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
          maxItems: 20,
          uniqueItems: true,
          description:
            'Usage percentages at which a `bundle.usage_threshold` event is sent. Defaults to 50, 80 and 100.',
          examples: [[50, 80, 100]],
        }),
      ),
      any_region: Type.Optional(
        Type.Boolean({
          description:
            'Set to true to add a product that covers no country of the eSIM’s own product. Make sure that the eSIM’s network works there.',
          examples: [true],
        }),
      ),
      dry_run: Type.Optional(dryRunInput),
    },
    { additionalProperties: false, examples: [{ product_id: exampleProductId }] },
  ),
  status: 202,
  alsoReturns: { status: 200, response: DryRun },
  response: Execution,
  responseExample: queuedExample('bundle.add'),
  refusals: ['resource_missing', 'state_conflict', 'execution_limit_reached'],
});

export const cancelBundle = operation({
  method: 'DELETE',
  path: '/v1/esims/{iccid}/bundles/{id}',
  tag: 'Bundles',
  summary: 'Cancel a queued bundle',
  description:
    'Cancels a bundle that has not started. It stays in the list as `canceled`, and a `bundle.canceled` event follows. Any other bundle returns 409 `state_conflict`.',
  scope: 'write',
  audit: { action: 'esim.bundle_canceled', target: 'esim' },
  params: Type.Object({
    ...iccidParams.properties,
    id: Type.String({ description: 'Id of the bundle (`bdl_…`).', examples: [exampleId(idPrefixes.bundle)] }),
  }),
  status: 200,
  response: Bundle,
  responseExample: {
    ...bundleExample,
    status: 'canceled',
    used_bytes: 0,
    activated_at: null,
    expires_at: null,
    as_of: null,
  },
  refusals: ['resource_missing', 'state_conflict'],
});
