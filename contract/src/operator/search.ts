import type { Static } from 'typebox';
import { exampleIccid, exampleId } from '../example-values.ts';
import { idPattern, idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { listOf } from '../pagination.ts';
import { SearchResult, search } from '../search.ts';
import { Type } from '../type.ts';
import { askedCells, cellLabel, exampleCells, ofOwnCell } from './cells.ts';

const example = {
  ...(SearchResult as unknown as { examples: object[] }).examples[0],
  account_id: exampleId(idPrefixes.account),
  account_name: 'Example Travel',
  mode: 'sandbox',
  cell: 'eu',
};

export const OperatorSearchResult = Type.Object(
  {
    ...SearchResult.properties,
    account_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      pattern: idPattern(idPrefixes.account),
      description: 'Account to which it belongs; null for a product, which belongs to none.',
    }),
    account_name: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Name of that account.',
    }),
    mode: Type.Enum(['sandbox', 'live'], { description: 'Mode of this deployment.' }),
    cell: Type.Optional(cellLabel('With several cells: the one that has it. `path` is read there')),
  },
  {
    title: 'OperatorSearchResult',
    description:
      'Something of any account that a search found. `path` is read with the header `Service-Account`.',
    examples: [example],
  },
);

export type OperatorSearchResult = Static<typeof OperatorSearchResult>;

const { q, limit } = search.query.properties;

const page = listOf(OperatorSearchResult, 'OperatorSearchResultList', 'eSIMs first, newest first');
const { examples } = page as unknown as { examples: [object] };

export const OperatorSearchResultList = Type.Object(
  { ...page.properties, cells: Type.Optional(askedCells) },
  {
    title: 'OperatorSearchResultList',
    description: 'A page of `OperatorSearchResult` objects.',
    examples: [{ ...examples[0], cells: exampleCells }],
  },
);

export type OperatorSearchResultList = Static<typeof OperatorSearchResultList>;

export const searchAccounts = operation({
  method: 'GET',
  path: '/v1/operator/search',
  tag: 'Operator deployment',
  summary: 'Search all accounts',
  description:
    'Finds in all accounts what belongs to an id (of an account, event, execution, webhook endpoint, delivery, bundle, recovery, request, audit entry, API key or product), an ICCID or its last digits (at least four), or the `reference` of an order. Returns one page. With several cells, of all that answered; `cells` says which.',
  scope: 'operator',
  query: Type.Object(
    {
      q: {
        ...q,
        description: 'An id, an ICCID or its last digits, or a reference: complete, not the start of one.',
        examples: [exampleIccid.slice(-6)],
      },
      limit,
      cells: ofOwnCell,
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: OperatorSearchResultList,
  refusals: ['parameter_missing'],
});
