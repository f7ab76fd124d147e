import type { Static } from 'typebox';
import { exampleIccid, exampleTime } from './example-values.ts';
import { operation } from './operation.ts';
import { listOf } from './pagination.ts';
import { nullableString, unixSeconds } from './schema.ts';
import { Type } from './type.ts';

export const searchTypes = [
  'esim',
  'execution',
  'event',
  'webhook_endpoint',
  'delivery',
  'bundle',
  'recovery',
  'api_key',
  'idempotency_key',
] as const;

export type SearchType = (typeof searchTypes)[number];

export const SearchResult = Type.Object(
  {
    id: Type.String({ description: 'Id, ICCID or idempotency key.' }),
    object: Type.Literal('search_result'),
    type: Type.Enum([...searchTypes], { description: 'What was found.' }),
    title: Type.String({ description: 'A short description.' }),
    path: nullableString({
      description: 'Path of the operation that returns it; null for a key whose request created nothing.',
    }),
    created: unixSeconds('When it was created.'),
  },
  {
    title: 'SearchResult',
    description: 'Something of the account that a search found.',
    examples: [
      {
        id: exampleIccid,
        object: 'search_result',
        type: 'esim',
        title: 'eSIM, provisioned',
        path: `/v1/esims/${exampleIccid}`,
        created: exampleTime,
      },
    ],
  },
);

export type SearchResult = Static<typeof SearchResult>;

export const search = operation({
  method: 'GET',
  path: '/v1/search',
  tag: 'Overview',
  summary: 'Search',
  description:
    'Finds what belongs to an id (`evt_…`, `exec_…`, `we_…`, `dlv_…`, `bdl_…`, `rec_…`, `key_…`), an ICCID or its last digits (at least four), ' +
    'or an idempotency key of the last 24 hours. Returns at most 20 results on one page.',
  scope: 'read',
  query: Type.Object(
    {
      q: Type.String({
        minLength: 4,
        maxLength: 255,
        description:
          'An id, an ICCID or its last digits, or an idempotency key: complete, not the start of one.',
        examples: [exampleIccid.slice(-6)],
      }),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: listOf(SearchResult, 'SearchResultList', 'eSIMs first, newest first'),
  refusals: ['parameter_missing'],
});
