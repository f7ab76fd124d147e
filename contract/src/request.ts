import type { Static } from 'typebox';
import { errorCodes, errors } from './errors.ts';
import { exampleId, exampleTime } from './example-values.ts';
import { createdFilters } from './filters.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { idParams, nullableString, unixSeconds } from './schema.ts';
import { Type } from './type.ts';

const example = {
  id: exampleId(idPrefixes.request),
  object: 'request',
  method: 'POST',
  path: '/v1/esims',
  operation: 'createEsim',
  via: 'api',
  status: 400,
  error: {
    code: 'parameter_missing',
    message: 'product_id is required.',
    param: 'product_id',
    remedy: errors.parameter_missing.remedy,
  },
  duration_ms: 2,
  api_key: { id: exampleId(idPrefixes.apiKey), name: 'Backend', last4: 'k3Qz' },
  idempotency: null,
  created_ids: [],
  ip: '203.0.113.7',
  created: exampleTime,
};

/** What became of the `Idempotency-Key` of a request. */
export const idempotencyResults = ['fresh', 'replayed', 'refused'] as const;

/** How a request reached the server. */
export const requestWays = ['api', 'dashboard', 'agent'] as const;

export type RequestWay = (typeof requestWays)[number];

export type IdempotencyResult = (typeof idempotencyResults)[number];

export const RequestLogEntry = Type.Object(
  {
    id: Type.String({
      pattern: idPattern(idPrefixes.request),
      description: 'The `Request-Id` of the response.',
    }),
    object: Type.Literal('request', { description: 'Kind of this object.' }),
    method: Type.String({ description: 'HTTP method.' }),
    path: Type.String({
      description:
        'Path without the query. A part that looks like neither a word nor an id is replaced by `*`.',
    }),
    operation: nullableString({ description: 'The operation’s id in the reference. Null for `/mcp`.' }),
    via: Type.Enum([...requestWays], {
      description: 'How it reached the server: `api`, `dashboard` or `agent` (`/mcp` and its tool calls).',
    }),
    status: Type.Integer({
      description: 'Status of the response; 499 if the client closed the connection before it.',
    }),
    error: Type.Optional(
      Type.Object(
        {
          code: Type.Enum(errorCodes),
          message: Type.String({
            description: 'As in the response, except that quoted values of the request may be `…`.',
          }),
          param: Type.Optional(Type.String()),
          remedy: Type.String({ description: 'What to do about it.' }),
        },
        { description: 'The error in the response. Absent if there was none.' },
      ),
    ),
    duration_ms: Type.Integer({ minimum: 0, description: 'How long it took, in milliseconds.' }),
    api_key: Type.Object(
      {
        id: Type.String({ pattern: idPattern(idPrefixes.apiKey) }),
        name: Type.String(),
        last4: Type.String(),
      },
      { description: 'The key that made it.' },
    ),
    idempotency: Type.Unsafe<IdempotencyResult | null>({
      type: ['string', 'null'],
      enum: [...idempotencyResults, null],
      description:
        'How its `Idempotency-Key` was used: `fresh` is the first request with the key, `replayed` got the stored response, `refused` got an error about the key. Null without a key.',
    }),
    created_ids: Type.Array(Type.String(), { description: 'Ids of what the request created, up to 20.' }),
    ip: nullableString({ description: 'The client’s address.' }),
    created: unixSeconds('When the request arrived.'),
  },
  {
    title: 'RequestLogEntry',
    description: 'A request to the API and how it ended, without its body.',
    examples: [example],
  },
);

export type RequestLogEntry = Static<typeof RequestLogEntry>;

export const listRequests = operation({
  method: 'GET',
  path: '/v1/requests',
  tag: 'Requests',
  summary: 'List requests',
  description:
    'Returns the request log of the last seven days. A request appears within a second. The operator chooses which requests are logged. By default, a sandbox logs all requests, and live mode only those that failed.',
  scope: 'read',
  query: listQuery({
    status: Type.Optional(
      Type.String({
        pattern: '^[2-5](xx|\\d\\d)$',
        description: 'Only requests with this status, or of a class such as `4xx`.',
        examples: ['4xx'],
      }),
    ),
    error_code: Type.Optional(Type.Enum(errorCodes, { description: 'Only requests with this error.' })),
    operation: Type.Optional(
      Type.String({
        pattern: '^[a-zA-Z]{1,60}$',
        description: 'Only requests of this operation, by its id in the reference.',
        examples: ['createEsim'],
      }),
    ),
    via: Type.Optional(
      Type.Enum([...requestWays], {
        description:
          'Only requests that reached the server this way: `api` leaves out those of the dashboard and of agents.',
      }),
    ),
    ...createdFilters('requests'),
  }),
  status: 200,
  response: listOf(RequestLogEntry, 'RequestLogEntryList'),
  refusals: ['cursor_invalid'],
});

export const getRequest = operation({
  method: 'GET',
  path: '/v1/requests/{id}',
  tag: 'Requests',
  summary: 'Get a request',
  description:
    'Returns the request with this `Request-Id`: how it ended, its error and what to do about it. It appears within a second and is kept for seven days.',
  scope: 'read',
  params: idParams(idPrefixes.request, 'The `Request-Id` of a response (`req_…`).'),
  status: 200,
  response: RequestLogEntry,
  refusals: ['resource_missing'],
});
