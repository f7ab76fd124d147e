import type { Static } from 'typebox';
import { operation } from '../operation.ts';
import { listOf, listQuery } from '../pagination.ts';
import { nullableInteger } from '../schema.ts';
import { Type } from '../type.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const IccidRange = Type.Object(
  {
    object: Type.Literal('iccid_range'),
    first: Type.String({ description: 'The first ICCID of the range.' }),
    last: Type.String({ description: 'The last ICCID of the range.' }),
    size: count('How many ICCIDs the range has.'),
    taken: count('ICCIDs that orders have used up, or use at the moment.'),
    free: count('ICCIDs for further orders, including those that were given back.'),
    returned: count('The part of `free` that was given back by orders that failed. Used before new ones.'),
    suspect: count(
      'ICCIDs that the SM-DP+ rejected, counted neither as taken nor as free. Used only if nothing else is left.',
    ),
    taken_last_week: nullableInteger({
      description:
        'New ICCIDs taken in the last seven days, or since counting began if that is more recent; null in the first hour of counting.',
    }),
    days_left: nullableInteger({
      description:
        'Days until this range and those before it are used up, at the rate of the last week. For the last range: days until no ICCID is left. Null if no new ICCID was taken.',
    }),
  },
  {
    title: 'IccidRange',
    description: 'A range of ICCIDs that workers assign to orders, in the order of the setting.',
    examples: [
      {
        object: 'iccid_range',
        first: '8988303000000000002',
        last: '8988303000000099996',
        size: 10_000,
        taken: 6_490,
        free: 3_500,
        returned: 12,
        suspect: 10,
        taken_last_week: 700,
        days_left: 35,
      },
    ],
  },
);

export type IccidRange = Static<typeof IccidRange>;

export const listIccidRanges = operation({
  method: 'GET',
  path: '/v1/operator/iccid_ranges',
  tag: 'Operator deployment',
  summary: 'List ICCID ranges',
  description:
    'Returns the ranges in the workers’ `SIMPLANE_ICCID_RANGES`, how much of each is used, and how long it lasts. Empty if the SM-DP+ chooses the ICCIDs, and in a sandbox without ranges.',
  scope: 'operator',
  query: listQuery({}),
  status: 200,
  response: listOf(IccidRange, 'IccidRangeList', 'in the order in which they are used'),
  refusals: ['cursor_invalid'],
});
