import type { Static } from 'typebox';
import { exampleIccid, exampleId, exampleTime } from '../example-values.ts';
import { iccid } from '../iccid.ts';
import { idPattern, idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { listOf, listQuery } from '../pagination.ts';
import { nullableString, unixSeconds } from '../schema.ts';
import { Type } from '../type.ts';
import { rejectionReasons, rejectionReasonsExplained } from '../usage-record.ts';

export const RejectedUsage = Type.Object(
  {
    object: Type.Literal('rejected_usage'),
    account_id: Type.String({
      pattern: idPattern(idPrefixes.account),
      description: 'Account of the key that reported it.',
    }),
    record_id: Type.String({ description: 'Id of the record.' }),
    iccid,
    bytes: Type.Integer({ minimum: 0, description: 'Bytes used.' }),
    at: unixSeconds('When the data was used, as reported.'),
    country: nullableString({ description: 'ISO 3166-1 alpha-2 code, if one was reported.' }),
    corrects: nullableString({ description: 'Id of the record that it should replace.' }),
    reason: Type.Enum([...rejectionReasons], { description: rejectionReasonsExplained }),
    created: unixSeconds('When it was rejected last for this reason.'),
  },
  {
    title: 'RejectedUsage',
    description: 'A usage record that was not counted.',
    examples: [
      {
        object: 'rejected_usage',
        account_id: exampleId(idPrefixes.account),
        record_id: 'cdr-20261101-000017',
        iccid: exampleIccid,
        bytes: 1_048_576,
        at: exampleTime,
        country: 'FR',
        corrects: null,
        reason: 'esim_unknown',
        created: exampleTime + 60,
      },
    ],
  },
);

export type RejectedUsage = Static<typeof RejectedUsage>;

export const listRejectedUsage = operation({
  method: 'GET',
  path: '/v1/operator/rejected_usage',
  tag: 'Operator deployment',
  summary: 'List rejected usage records',
  description:
    'Returns the usage records that were rejected in the last 90 days, of all reporting keys. A record that was rejected and counted later stays in the list.',
  scope: 'operator',
  query: listQuery({
    iccid: Type.Optional(
      Type.String({ maxLength: 20, description: 'Only records of this eSIM.', examples: [exampleIccid] }),
    ),
  }),
  status: 200,
  response: listOf(RejectedUsage, 'RejectedUsageList'),
  refusals: ['cursor_invalid'],
});
