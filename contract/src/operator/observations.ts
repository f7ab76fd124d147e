import type { Static } from 'typebox';
import { ProfileError } from '../esim.ts';
import { exampleIccid, exampleTime } from '../example-values.ts';
import { iccid } from '../iccid.ts';
import { operation } from '../operation.ts';
import { Type } from '../type.ts';
import {
  rejectionReasons,
  rejectionReasonsExplained,
  UsageRecord,
  usageRecordLimits,
} from '../usage-record.ts';
import { cellLabel } from './cells.ts';

/** What became of a usage record. */
export const usageOutcomes = ['accepted', 'duplicate', ...rejectionReasons] as const;

export type UsageOutcome = (typeof usageOutcomes)[number];

const ProfileObservation = Type.Object(
  {
    iccid,
    state: Type.Enum(['downloaded', 'installed', 'enabled', 'disabled', 'deleted', 'error'], {
      description: 'State of the profile on the device.',
    }),
    at_ms: Type.Integer({
      minimum: 0,
      maximum: 253402300799999,
      description: 'When the SM-DP+ saw it. Unix time in milliseconds.',
    }),
    eid: Type.Optional(Type.String({ pattern: '^[0-9]{32}$', description: 'EID of the device.' })),
    failure: Type.Optional(
      Type.Object(
        {
          step: Type.Enum(['download', 'install'], { description: 'What the device could not do.' }),
          error: ProfileError,
        },
        { additionalProperties: false, description: 'With the state `error`: what failed, and why.' },
      ),
    ),
  },
  { additionalProperties: false, description: 'A notification of the SM-DP+ about a profile.' },
);

export const Observations = Type.Object(
  {
    object: Type.Literal('observations'),
    cell: cellLabel('Label of this cell'),
    usage_records: Type.Optional(
      Type.Array(Type.Enum([...usageOutcomes]), {
        description: `What became of each record, in the order of the request. \`accepted\`: counted. \`duplicate\`: counted before, or repeated within the request. ${rejectionReasonsExplained} \`esim_unknown\` here means that this cell does not have the eSIM, and \`esim_not_ready\` also that its account is leaving.`,
      }),
    ),
    profile: Type.Optional(
      Type.Enum(['accepted', 'esim_unknown', 'esim_not_ready'], {
        description:
          'What became of the notification. `esim_unknown`: this cell does not have the eSIM. `esim_not_ready`: its account is leaving; send it again.',
      }),
    ),
  },
  {
    title: 'Observations',
    description: 'What a cell took of another’s usage records and notifications.',
    examples: [{ object: 'observations', cell: 'eu', usage_records: ['accepted'] }],
  },
);

export type Observations = Static<typeof Observations>;

export const takeObservations = operation({
  method: 'POST',
  path: '/v1/operator/observations',
  tag: 'Operator deployment',
  summary: 'Pass on usage and notifications',
  description:
    'For other cells: takes the usage records and the notification of the SM-DP+ whose eSIMs are in this cell, and says which are not. Passes nothing on. Rejected records are not kept here but in the cell that they were reported to.',
  scope: 'operator_write',
  audit: { action: 'usage.reported', target: 'request' },
  bodyLimitBytes: usageRecordLimits.bytes,
  body: Type.Object(
    {
      usage_records: Type.Optional(
        Type.Array(UsageRecord, {
          minItems: 1,
          maxItems: usageRecordLimits.count,
          description: 'Usage records, as in `POST /v1/usage_records`.',
        }),
      ),
      profile: Type.Optional(ProfileObservation),
    },
    {
      additionalProperties: false,
      examples: [
        {
          usage_records: [
            { record_id: 'cdr-20261101-000017', iccid: exampleIccid, bytes: 1_048_576, at: exampleTime },
          ],
        },
      ],
    },
  ),
  status: 200,
  response: Observations,
  refusals: [],
});
