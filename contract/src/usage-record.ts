import type { Static } from 'typebox';
import { countryInput } from './country.ts';
import { exampleIccid, exampleTime } from './example-values.ts';
import { iccid } from './iccid.ts';
import { operation } from './operation.ts';
import { unixSecondsInput } from './schema.ts';
import { Type } from './type.ts';

/** Of one request. */
export const usageRecordLimits = { count: 10_000, bytes: 4 * 1024 * 1024 } as const;

/** How many rejected records a response lists. */
export const maxRejections = 100;

export const rejectionReasons = [
  'esim_unknown',
  'esim_not_ready',
  'esim_ended',
  'too_old',
  'record_unknown',
  'already_corrected',
] as const;

/** What each reason means. */
export const rejectionReasonsExplained =
  '`esim_unknown`: no eSIM has this ICCID. `esim_not_ready`: the eSIM is still provisioning, or may be in another cell that did not answer; report the record again later. `esim_ended`: the eSIM failed, or was terminated before `at`. `too_old`: `at` is longer ago than the operator’s `SIMPLANE_USAGE_MAX_AGE` (35 days), so the record may have been counted and forgotten. `record_unknown`: no record with the id in `corrects` was counted for this eSIM; report it first. `already_corrected`: another record has replaced the one in `corrects`; correct that one.';

export type RejectionReason = (typeof rejectionReasons)[number];

const recordId = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Your id for the record, unique per eSIM. A record that was counted is not counted again.',
  examples: ['cdr-20261101-000017'],
});

const usageExample = {
  record_id: 'cdr-20261101-000017',
  iccid: exampleIccid,
  bytes: 1_048_576,
  at: exampleTime,
  country: 'FR',
};

export const UsageRecord = Type.Object(
  {
    record_id: recordId,
    iccid,
    bytes: Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000_000_000,
      description: 'Bytes used, upload and download combined.',
      examples: [1_048_576],
    }),
    at: unixSecondsInput(
      'When the data was used. At most five minutes ahead; a time in the future counts as now, one before the order of the eSIM as the time of the order. Records from more than 35 days ago, or what the operator has set, are rejected.',
      { examples: [exampleTime] },
    ),
    country: Type.Optional(
      countryInput({
        description:
          'Country where the eSIM was attached, as an ISO 3166-1 alpha-2 code. It decides which bundles cover the usage; if omitted, the last known country counts.',
        examples: ['FR'],
      }),
    ),
    corrects: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description:
          '`record_id` of an earlier record of this eSIM that this one replaces. The earlier amount no longer counts. Events that were sent are neither taken back nor repeated.',
        examples: ['cdr-20261101-000016'],
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'UsageRecord',
    description: 'Data that an eSIM used, as the network counted it.',
    examples: [usageExample],
  },
);

export type UsageRecord = Static<typeof UsageRecord>;

export const UsageRecordBatch = Type.Object(
  {
    object: Type.Literal('usage_record_batch'),
    accepted: Type.Integer({ minimum: 0, description: 'Records counted by this request.' }),
    duplicates: Type.Integer({
      minimum: 0,
      description: 'Records counted before, or repeated within this request.',
    }),
    rejected: Type.Integer({
      minimum: 0,
      description: 'Records not counted. `rejections` gives the reasons.',
    }),
    rejections: Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0, description: 'Index of the record in `records`, from 0.' }),
        record_id: Type.String(),
        iccid,
        reason: Type.Enum([...rejectionReasons], {
          description: rejectionReasonsExplained,
        }),
      }),
      { maxItems: maxRejections, description: `The first ${maxRejections} rejected records.` },
    ),
  },
  {
    title: 'UsageRecordBatch',
    description:
      'Result of a batch of usage records. `accepted`, `duplicates` and `rejected` add up to its size.',
    examples: [{ object: 'usage_record_batch', accepted: 1, duplicates: 0, rejected: 0, rejections: [] }],
  },
);

export type UsageRecordBatch = Static<typeof UsageRecordBatch>;

export const reportUsage = operation({
  method: 'POST',
  path: '/v1/usage_records',
  tag: 'Usage',
  summary: 'Report usage',
  description:
    'Counts data usage against bundles and sends the resulting events. For the network that carries the eSIMs. ' +
    'Each record counts once, however often it is sent, so it is always safe to send a batch again. ' +
    'A malformed record fails the whole batch; an unknown ICCID rejects only its own records.',
  scope: 'network',
  audit: { action: 'usage.reported', target: 'request' },
  bodyLimitBytes: usageRecordLimits.bytes,
  body: Type.Object(
    {
      records: Type.Array(UsageRecord, {
        minItems: 1,
        maxItems: usageRecordLimits.count,
        description:
          'Records in any order. They are counted in order of `at`; corrections follow, in the order given.',
      }),
    },
    { additionalProperties: false, examples: [{ records: [usageExample] }] },
  ),
  status: 200,
  response: UsageRecordBatch,
  refusals: [],
});
