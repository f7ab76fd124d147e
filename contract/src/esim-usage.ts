import type { Static } from 'typebox';
import { exampleBytes, exampleIccid, exampleTime } from './example-values.ts';
import { iccid, iccidParams } from './iccid.ts';
import { operation } from './operation.ts';
import { unixSeconds, unixSecondsInput } from './schema.ts';
import { Type } from './type.ts';

export const usageIntervals = ['hour', 'day'] as const;

export type UsageInterval = (typeof usageIntervals)[number];

const day = exampleTime - (exampleTime % 86_400);

export const EsimUsage = Type.Object(
  {
    object: Type.Literal('esim_usage'),
    iccid,
    interval: Type.Enum([...usageIntervals]),
    from: unixSeconds('Start of the first interval.'),
    until: unixSeconds('End of the last interval.'),
    used_bytes: Type.Integer({ minimum: 0, description: 'Bytes used in all intervals.' }),
    points: Type.Array(
      Type.Object({
        start: unixSeconds('Start of the interval, in UTC.'),
        used_bytes: Type.Integer({ minimum: 0, description: 'Bytes used, upload and download combined.' }),
      }),
      { maxItems: 744, description: 'Every interval, oldest first, including those without usage.' },
    ),
  },
  {
    title: 'EsimUsage',
    description: 'Data that an eSIM used over time, as the network reported it.',
    examples: [
      {
        object: 'esim_usage',
        iccid: exampleIccid,
        interval: 'day',
        from: day - 86_400,
        until: day + 86_400,
        used_bytes: exampleBytes.used,
        points: [
          { start: day - 86_400, used_bytes: 0 },
          { start: day, used_bytes: exampleBytes.used },
        ],
      },
    ],
  },
);

export type EsimUsage = Static<typeof EsimUsage>;

export const getEsimUsage = operation({
  method: 'GET',
  path: '/v1/esims/{iccid}/usage',
  tag: 'eSIMs',
  summary: 'Get an eSIM’s usage over time',
  description:
    'Returns how much data the eSIM used in each hour or day, across all its bundles. To see how much data is left, list its bundles.',
  scope: 'read',
  params: iccidParams,
  query: Type.Object(
    {
      interval: Type.Optional(
        Type.Enum([...usageIntervals], {
          default: 'day',
          description: 'Length of an interval. Days begin at midnight UTC.',
          examples: ['hour'],
        }),
      ),
      from: Type.Optional(
        unixSecondsInput(
          'Start, rounded down to a full interval. Defaults to 24 hours or 30 days before `until`. Hours are kept for 35 days, or what the operator has set; days are kept.',
          { examples: [exampleTime] },
        ),
      ),
      until: Type.Optional(
        unixSecondsInput(
          'End, rounded up to a full interval; at most 744 hours or 366 days after `from`. Defaults to now.',
          { examples: [exampleTime + 86_400] },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: EsimUsage,
  refusals: ['resource_missing'],
});
