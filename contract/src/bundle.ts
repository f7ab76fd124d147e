import { type Static, Type } from 'typebox';
import { Execution } from './execution.ts';
import { iccid, iccidParams } from './iccid.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { nullableInteger } from './schema.ts';

export const bundleStatuses = ['queued', 'active', 'depleted', 'expired', 'canceled'] as const;

export type BundleStatus = (typeof bundleStatuses)[number];

export const defaultThresholds = [50, 80, 100];

export const Bundle = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.bundle) }),
    object: Type.Literal('bundle'),
    iccid,
    product_id: Type.String({ description: 'What was bought.' }),
    status: Type.Enum([...bundleStatuses], {
      description: 'Queued until the first attach, or until the one before it ends.',
    }),
    data_bytes: nullableInteger({ description: 'Included data; null means unlimited.' }),
    used_bytes: Type.Integer({ minimum: 0, description: 'Counted once per usage record.' }),
    thresholds: Type.Array(Type.Integer(), {
      description: 'At which percentages `bundle.usage_threshold` is sent.',
    }),
    activated_at: nullableInteger({ description: 'When it began to count. Unix time in seconds.' }),
    expires_at: nullableInteger({ description: 'When it ends at the latest. Unix time in seconds.' }),
    as_of: nullableInteger({
      description: 'The time of the newest usage record in `used_bytes`. Unix time in seconds.',
    }),
  },
  { title: 'Bundle', description: 'An amount of data on an eSIM, and how much of it is used.' },
);

export type Bundle = Static<typeof Bundle>;

export const listBundles = operation({
  method: 'GET',
  path: '/v1/esims/{iccid}/bundles',
  tag: 'Bundles',
  summary: 'List an eSIM’s bundles',
  description: 'What was bought for this eSIM and how much of it is used.',
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
    'Adds a bundle. It begins when the eSIM has no other that is active, and waits in the queue until then.',
  scope: 'write',
  params: iccidParams,
  body: Type.Object(
    {
      product_id: Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'The `id` of a product.',
        examples: ['prod_europe_5gb_30d'],
      }),
      thresholds: Type.Optional(
        Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
          maxItems: 20,
          uniqueItems: true,
          description: 'Percentages at which `bundle.usage_threshold` is sent; 50, 80 and 100 when left out.',
          examples: [[50, 80, 100]],
        }),
      ),
    },
    { additionalProperties: false },
  ),
  status: 202,
  response: Execution,
  refusals: ['resource_missing', 'state_conflict'],
});
