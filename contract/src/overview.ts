import type { Static } from 'typebox';
import { exampleTime } from './example-values.ts';
import { operation } from './operation.ts';
import { nullableInteger, unixSeconds, unixSecondsInput } from './schema.ts';
import { Type } from './type.ts';

const stages = ['provisioned', 'downloaded', 'installed', 'active'] as const;

const count = (description: string) => Type.Integer({ minimum: 0, description });

const hourStart = exampleTime - (exampleTime % 3_600);

export const Overview = Type.Object(
  {
    object: Type.Literal('overview'),
    from: unixSeconds('Start of the window, a full hour.'),
    until: unixSeconds('End of the window, a full hour.'),
    as_of: unixSeconds('Everything that happened up to here is counted.'),
    funnel: Type.Array(
      Type.Object({
        stage: Type.Enum(['accepted', ...stages]),
        count: count('Orders that reached the stage.'),
        median_ms: nullableInteger({
          description:
            'Median time since the previous stage, accurate to within 10 %; null for `accepted`, and if it is unknown.',
        }),
        p95_ms: nullableInteger({ description: '95th percentile of the same time.' }),
      }),
      {
        description:
          'How many of the orders accepted in the window have reached each stage, at any time until `as_of`. An order that reached a stage counts for all stages before it.',
      },
    ),
    open_count: count('Orders that have not ended. At most 10,000 are counted.'),
    failed_count: count('Orders that failed.'),
    failures: Type.Array(
      Type.Object({
        stage: Type.Enum([...stages], { description: 'The stage that was not reached.' }),
        code: Type.String({
          description:
            'For `provisioned`: `error.code` of the execution. For `downloaded` and `installed`: `profile.error.code` of the eSIM.',
        }),
        count: count('How often it happened.'),
      }),
      { maxItems: 50, description: 'Failures by stage and code, the most frequent first.' },
    ),
    hours: Type.Array(
      Type.Object({
        start: unixSeconds('Start of the hour.'),
        accepted: count('Orders accepted in this hour.'),
        provisioned: count('Of these, provisioned.'),
        failed: count('Of these, failed.'),
        downloaded: count('Of these, downloaded.'),
        installed: count('Of these, installed.'),
        active: count('Of these, active.'),
      }),
      { description: 'Every hour of the window, oldest first, by the time the orders were accepted.' },
    ),
  },
  {
    title: 'Overview',
    description: 'How the account’s orders are doing.',
    examples: [
      {
        object: 'overview',
        from: hourStart,
        until: hourStart + 3_600,
        as_of: hourStart + 3_590,
        funnel: [
          { stage: 'accepted', count: 120, median_ms: null, p95_ms: null },
          { stage: 'provisioned', count: 117, median_ms: 1_964, p95_ms: 4_670 },
          { stage: 'downloaded', count: 98, median_ms: 240_000, p95_ms: 2_900_000 },
          { stage: 'installed', count: 97, median_ms: 12_000, p95_ms: 41_000 },
          { stage: 'active', count: 80, median_ms: 61_000, p95_ms: 3_100_000 },
        ],
        open_count: 1,
        failed_count: 2,
        failures: [
          { stage: 'provisioned', code: 'declined', count: 2 },
          { stage: 'downloaded', code: 'device_memory_full', count: 1 },
        ],
        hours: [
          {
            start: hourStart,
            accepted: 120,
            provisioned: 117,
            failed: 2,
            downloaded: 98,
            installed: 97,
            active: 80,
          },
        ],
      },
    ],
  },
);

export type Overview = Static<typeof Overview>;

export const getOverview = operation({
  method: 'GET',
  path: '/v1/overview',
  tag: 'Overview',
  summary: 'Get an overview of the orders',
  description:
    'Returns how many orders of the last day reached each stage and how long that took, failures by code, and the same counts by hour. ' +
    'Workers count in the background: `as_of` says up to when, usually a second or two ago.',
  scope: 'read',
  query: Type.Object(
    {
      from: Type.Optional(
        unixSecondsInput(
          'Start of the window, rounded down to a full hour. Defaults to a day before `until`.',
          {
            examples: [exampleTime],
          },
        ),
      ),
      until: Type.Optional(
        unixSecondsInput(
          'End of the window, rounded up to a full hour; at most 744 hours after `from`. Defaults to now.',
          { examples: [exampleTime + 86_400] },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: Overview,
  refusals: [],
});
