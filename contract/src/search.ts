import type { Static } from 'typebox';
import { exampleIccid, exampleTime } from './example-values.ts';
import { operation } from './operation.ts';
import { listOf, pageSize } from './pagination.ts';
import { nullableString, unixSeconds } from './schema.ts';
import { Type } from './type.ts';

export const searchTypes = [
  'esim',
  'execution',
  'batch',
  'event',
  'webhook_endpoint',
  'delivery',
  'bundle',
  'recovery',
  'request',
  'audit_entry',
  'api_key',
  'account',
  'product',
  'event_consumer',
  'idempotency_key',
] as const;

export type SearchType = (typeof searchTypes)[number];

export const SearchResult = Type.Object(
  {
    id: Type.String({ description: 'Id, ICCID, name or idempotency key.' }),
    object: Type.Literal('search_result'),
    type: Type.Enum([...searchTypes], { description: 'What was found.' }),
    title: Type.String({ description: 'A short description.' }),
    path: nullableString({
      description:
        'Path of the operation that returns it, or the list that contains it; null for an idempotency key whose request created nothing.',
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

export const searchLimit = 20;

export const search = operation({
  method: 'GET',
  path: '/v1/search',
  tag: 'Overview',
  summary: 'Search',
  description:
    'Finds what belongs to an id (`evt_…`, `exec_…`, `bat_…`, `we_…`, `dlv_…`, `bdl_…`, `rec_…`, `req_…`, `key_…`, `aud_…`, a product’s), the name of an ' +
    'event consumer, an ICCID or its last digits (at least four), the `reference` of an order, a value in an eSIM’s `metadata`, or an ' +
    'idempotency key of the last 24 hours. Other keys and the audit log need the scope `admin`. Returns one page.',
  scope: 'read',
  query: Type.Object(
    {
      q: Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          'An id, an ICCID or its last digits, a reference, a value of metadata, a name, or an idempotency key: complete, not the start of one.',
        examples: ['TRV-1007'],
      }),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          default: searchLimit,
          description: `How many results to return at most. Values above ${pageSize.maximum} are treated as ${pageSize.maximum}.`,
          examples: [5],
        }),
      ),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: listOf(SearchResult, 'SearchResultList', 'eSIMs first, newest first'),
  refusals: ['parameter_missing'],
});
