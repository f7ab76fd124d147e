import type { Static } from 'typebox';
import { DryRun, dryRunInput } from './dry-run.ts';
import { eid, InstallProfile, productId } from './esim.ts';
import { exampleIccid, exampleId, exampleProductId, exampleTime } from './example-values.ts';
import { createdFilters } from './filters.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { metadataInput } from './metadata.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { referenceInput, referenceSchema } from './reference.ts';
import { idParams, nullableString, nullableUnixSeconds, unixSeconds } from './schema.ts';
import { Type } from './type.ts';

/** How many orders a batch may have. */
export const maxBatchOrders = 1_000;

/** How many batches of an account may be unfinished. */
export const maxOpenBatches = 10;

const example = {
  id: exampleId(idPrefixes.batch),
  object: 'batch',
  product_id: exampleProductId,
  total: 500,
  succeeded: 498,
  failed: 2,
  canceled: 0,
  open: 0,
  created: exampleTime,
  finished_at: exampleTime + 9,
};

const acceptedExample = { ...example, total: 50, succeeded: 0, failed: 0, open: 50, finished_at: null };

const countOf = (description: string) => Type.Integer({ minimum: 0, description });

export const Batch = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.batch) }),
    object: Type.Literal('batch'),
    product_id: nullableString({ description: 'Product of all its orders; null if they differ.' }),
    total: countOf('Number of orders. Always `succeeded` + `failed` + `open`.'),
    succeeded: countOf('Orders whose eSIM is ready.'),
    failed: countOf(
      'Orders that failed permanently or were canceled. One that the operator has started again counts as the new execution does.',
    ),
    canceled: countOf('How many of the failed ones were canceled.'),
    open: countOf('Orders that are queued or running.'),
    created: unixSeconds('When the batch was accepted.'),
    finished_at: nullableUnixSeconds(
      'When all orders had ended; null until then. A `batch.finished` event tells it.',
    ),
  },
  {
    title: 'Batch',
    description: 'Orders of eSIMs that were accepted together.',
    examples: [example],
  },
);

export type Batch = Static<typeof Batch>;

const batchParams = idParams(idPrefixes.batch, 'Id of the batch (`bat_…`).');

export const createBatch = operation({
  method: 'POST',
  path: '/v1/batches',
  tag: 'Batches',
  summary: 'Order many eSIMs',
  description:
    `Stores up to ${maxBatchOrders.toLocaleString('en')} orders with one write: all are accepted, or none. Then each runs on its own, as an order of \`POST /v1/esims\` does. ` +
    'Send `product_id` and `quantity`, or `orders`. An error names the order that it is about, such as `orders[17].eid`. ' +
    'A `batch.finished` event follows when the last order has ended.',
  scope: 'write',
  audit: { action: 'batch.created', target: 'batch' },
  body: Type.Object(
    {
      product_id: Type.Optional(
        Type.String({ ...productId, description: 'Id of the product that all eSIMs get. Needs `quantity`.' }),
      ),
      quantity: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: maxBatchOrders,
          description: 'Number of eSIMs. Needs `product_id`.',
          examples: [500],
        }),
      ),
      orders: Type.Optional(
        Type.Array(
          Type.Object(
            {
              product_id: Type.String(productId),
              reference: Type.Optional(referenceInput),
              metadata: Type.Optional(metadataInput),
              eid: Type.Optional(
                nullableString({ ...eid, description: 'Binds the profile to the device with this EID.' }),
              ),
            },
            { additionalProperties: false },
          ),
          {
            minItems: 1,
            maxItems: maxBatchOrders,
            description: 'One entry per eSIM, instead of `product_id` and `quantity`.',
            examples: [[{ product_id: exampleProductId, reference: 'TRV-1007' }]],
          },
        ),
      ),
      dry_run: Type.Optional(dryRunInput),
    },
    { additionalProperties: false, examples: [{ product_id: exampleProductId, quantity: 50 }] },
  ),
  bodyLimitBytes: 1024 * 1024,
  status: 202,
  alsoReturns: { status: 200, response: DryRun },
  response: Batch,
  responseExample: acceptedExample,
  refusals: ['resource_missing', 'state_conflict', 'execution_limit_reached', 'batch_limit_reached'],
});

export const listBatches = operation({
  method: 'GET',
  path: '/v1/batches',
  tag: 'Batches',
  summary: 'List batches',
  description: 'Returns the account’s batches with their progress.',
  scope: 'read',
  query: listQuery(createdFilters('batches')),
  status: 200,
  response: listOf(Batch, 'BatchList'),
  refusals: ['cursor_invalid'],
});

export const getBatch = operation({
  method: 'GET',
  path: '/v1/batches/{id}',
  tag: 'Batches',
  summary: 'Get a batch',
  description:
    'Returns a batch with its progress. `GET /v1/executions?batch_id=` lists its orders; those that failed say why.',
  scope: 'read',
  params: batchParams,
  status: 200,
  response: Batch,
  refusals: ['resource_missing'],
});

export const cancelBatch = operation({
  method: 'POST',
  path: '/v1/batches/{id}/cancel',
  tag: 'Batches',
  summary: 'Cancel a batch',
  description:
    'Cancels the orders of the batch that have not reached the network: they fail with the error code `canceled`, each with its event. The others go on. Returns the batch, also if there was nothing left to cancel.',
  scope: 'write',
  audit: { action: 'batch.canceled', target: 'batch' },
  params: batchParams,
  status: 200,
  response: Batch,
  responseExample: { ...example, succeeded: 120, failed: 380, canceled: 380 },
  refusals: ['resource_missing'],
});

/** How install profiles of a batch can be asked for, and the media type of each. */
export const installProfileFormats = ['json', 'csv', 'ndjson', 'zip', 'zip_svg', 'cards'] as const;

export type InstallProfileFormat = (typeof installProfileFormats)[number];

const { iccid, object: _, qr, profile_state, profile_error, ...installFields } = InstallProfile.properties;

export const BatchInstallProfiles = Type.Object(
  {
    object: Type.Literal('batch_install_profiles'),
    batch_id: Type.String({ pattern: idPattern(idPrefixes.batch) }),
    open: countOf('Orders that have not ended: their eSIMs are not in `data` yet.'),
    data: Type.Array(
      Type.Object({
        iccid,
        execution_id: Type.String({ pattern: idPattern(idPrefixes.execution) }),
        product_id: Type.String(),
        reference: referenceSchema,
        ...installFields,
      }),
      { description: 'One entry per eSIM that can be installed, in the order of the batch.' },
    ),
  },
  {
    title: 'BatchInstallProfiles',
    description: 'Data to install the eSIMs of a batch. Treat it as a secret.',
    examples: [
      {
        object: 'batch_install_profiles',
        batch_id: exampleId(idPrefixes.batch),
        open: 0,
        data: [
          {
            iccid: exampleIccid,
            execution_id: exampleId(idPrefixes.execution),
            product_id: exampleProductId,
            reference: 'TRV-1007',
            lpa: 'LPA:1$smdp.example.com$K2-1B3D-9XY',
            activation_code: '1$smdp.example.com$K2-1B3D-9XY',
            smdp_address: 'smdp.example.com',
            matching_id: 'K2-1B3D-9XY',
            confirmation_code_required: false,
            ios_install_url:
              'https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=LPA:1$smdp.example.com$K2-1B3D-9XY',
            android_install_url:
              'https://esimsetup.android.com/esim_qrcode_provisioning?carddata=LPA:1$smdp.example.com$K2-1B3D-9XY',
          },
        ],
      },
    ],
  },
);

export type BatchInstallProfiles = Static<typeof BatchInstallProfiles>;

export const listBatchInstallProfiles = operation({
  method: 'GET',
  path: '/v1/batches/{id}/install_profiles',
  tag: 'Batches',
  summary: 'Get the install profiles of a batch',
  description:
    'Returns the LPA strings and install links of the eSIMs that are ready. `format`, or else `Accept`, chooses JSON, CSV, NDJSON, or a ZIP archive: ' +
    '`zip` has the QR codes as PNG, `zip_svg` as SVG, `cards` a printable card per eSIM. Each call is in the audit log.',
  scope: 'install',
  params: batchParams,
  query: Type.Object(
    {
      format: Type.Optional(
        Type.Enum([...installProfileFormats], { description: 'Format of the answer; JSON by default.' }),
      ),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: BatchInstallProfiles,
  files: ['text/csv', 'application/x-ndjson', 'application/zip'],
  refusals: ['resource_missing'],
});
