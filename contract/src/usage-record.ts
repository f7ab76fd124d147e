import { type Static, Type } from 'typebox';
import { iccid } from './iccid.ts';
import { operation } from './operation.ts';

const mostRecords = 10_000;

/** How many refused records an answer names at most. */
export const mostRejections = 100;

export const rejectionReasons = ['esim_unknown', 'esim_not_ready', 'esim_ended'] as const;

export type RejectionReason = (typeof rejectionReasons)[number];

const recordId = Type.String({
  minLength: 1,
  maxLength: 100,
  description:
    'Yours, unique among the records of this eSIM: a record that was counted is not counted again.',
  examples: ['cdr-20261101-000017'],
});

const UsageRecord = Type.Object(
  {
    record_id: recordId,
    iccid,
    bytes: Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000_000_000,
      description: 'How much was used, in both directions together.',
      examples: [1_048_576],
    }),
    at: Type.Integer({
      minimum: 0,
      maximum: 253402300799,
      description: 'When it was used. Unix time in seconds.',
      examples: [1_793_527_200],
    }),
    country: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{2}$',
        description: 'Where the eSIM was attached: ISO 3166-1 alpha-2.',
        examples: ['FR'],
      }),
    ),
  },
  { additionalProperties: false },
);

export type UsageRecord = Static<typeof UsageRecord>;

export const UsageRecordBatch = Type.Object(
  {
    object: Type.Literal('usage_record_batch'),
    accepted: Type.Integer({ minimum: 0, description: 'Records that were counted now.' }),
    duplicates: Type.Integer({
      minimum: 0,
      description: 'Records that had been counted before, or stand in this request more than once.',
    }),
    rejected: Type.Integer({
      minimum: 0,
      description: 'Records that were not counted, for the reasons in `rejections`.',
    }),
    rejections: Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0, description: 'Its place in `records`.' }),
        record_id: Type.String(),
        iccid,
        reason: Type.Enum([...rejectionReasons], {
          description:
            '`esim_unknown`: no eSIM has this ICCID. `esim_not_ready`: it is still provisioning; report the record again later. `esim_ended`: it was terminated or has failed.',
        }),
      }),
      { maxItems: mostRejections, description: `The first ${mostRejections} of the rejected records.` },
    ),
  },
  {
    title: 'UsageRecordBatch',
    description:
      'What became of a batch of usage records: `accepted`, `duplicates` and `rejected` add up to it.',
  },
);

export type UsageRecordBatch = Static<typeof UsageRecordBatch>;

export const reportUsage = operation({
  method: 'POST',
  path: '/v1/usage_records',
  tag: 'Usage',
  summary: 'Report usage',
  description:
    'For the network that carries the eSIMs: counts data against their bundles, which causes the same events as anywhere. ' +
    'Each record counts once, however often and in however many requests it is sent, so a batch can always be sent again. ' +
    'A malformed record refuses the whole batch; an ICCID that is not known rejects its own records only.',
  scope: 'network',
  bodyLimitBytes: 4 * 1024 * 1024,
  body: Type.Object(
    {
      records: Type.Array(UsageRecord, {
        minItems: 1,
        maxItems: mostRecords,
        description: 'In any order; they are counted in the order of `at`.',
      }),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: UsageRecordBatch,
  refusals: [],
});
