import type { TSchema } from 'typebox';
import { apiVersions, currentApiVersion } from './api-version.ts';
import { type ErrorCode, errors } from './errors.ts';
import { describeLinks } from './openapi-links.ts';
import { linkSchemas, requestName, schemaRef } from './openapi-schemas.ts';
import { describeScope, isOperators, isWrite, type Operation } from './operation.ts';
import { isPaging } from './pagination.ts';

/** Errors that any operation can return before its own work begins. */
const commonErrors: readonly ErrorCode[] = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_expired',
  'api_key_wrong_mode',
  'wrong_cell',
  'api_key_address_refused',
  'scope_missing',
  'api_version_unknown',
  'rate_limited',
  'internal',
  'unavailable',
];
const queryErrors: readonly ErrorCode[] = ['parameter_invalid', 'parameter_unknown'];
const writeErrors: readonly ErrorCode[] = [
  'account_suspended',
  'parameter_missing',
  'parameter_invalid',
  'parameter_unknown',
  'json_invalid',
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'idempotency_in_progress',
  'body_too_large',
  'content_type_unsupported',
];

const headerRefs = {
  'Request-Id': ref('headers', 'RequestId'),
  'Service-Version': ref('headers', 'ServiceVersion'),
};

const extraHeaders: Partial<Record<number, object>> = {
  401: { 'WWW-Authenticate': { description: '`Bearer`', schema: { type: 'string' } } },
  409: { 'Retry-After': ref('headers', 'RetryAfter') },
  429: {
    'Retry-After': ref('headers', 'RetryAfter'),
    RateLimit: { description: 'Remaining quota.', schema: { type: 'string' } },
    'RateLimit-Policy': { description: 'Rate limit in force.', schema: { type: 'string' } },
  },
  503: { 'Retry-After': ref('headers', 'RetryAfter') },
};

export function describeOperation(
  operationId: string,
  definition: Operation,
  named: ReadonlyMap<string, object>,
) {
  const { body, response } = definition;
  const success = {
    description: describeSuccess(definition),
    headers: {
      ...headerRefs,
      ...(isWrite(definition) && { 'Idempotent-Replayed': ref('headers', 'IdempotentReplayed') }),
      ...(definition.status === 202 && { Location: ref('headers', 'Location') }),
    },
    content: {
      'application/json': {
        schema: linkSchemas(response, named),
        example: definition.responseExample ?? firstExample(response),
      },
      ...Object.fromEntries((definition.pictures ?? []).map((type) => [type, {}])),
      ...Object.fromEntries((definition.files ?? []).map((type) => [type, { schema: { type: 'string' } }])),
      ...(definition.streams && { 'text/event-stream': { schema: { type: 'string' } } }),
    },
    ...describeLinks(operationId, response),
  };
  return {
    operationId,
    tags: [definition.tag],
    summary: definition.summary,
    description: describeWithScope(definition),
    ...(isOperators(definition) && { security: [{ operatorKey: [] }] }),
    parameters: describeParameters(definition),
    ...(body && {
      requestBody: {
        required: true,
        ...(definition.bodyLimitBytes !== undefined && {
          description: `At most ${definition.bodyLimitBytes / 1024 / 1024} MB.`,
        }),
        content: {
          'application/json': { schema: schemaRef(requestName(operationId)), example: firstExample(body) },
        },
      },
    }),
    responses: {
      [definition.status]: success,
      ...describeOther(definition, named),
      ...describeErrors(definition),
    },
  };
}

function describeOther({ alsoReturns }: Operation, named: Parameters<typeof linkSchemas>[1]) {
  if (!alsoReturns) return {};
  const { status, response } = alsoReturns;
  return {
    [status]: {
      description: (response as { description?: string }).description ?? '',
      headers: headerRefs,
      content: {
        'application/json': { schema: linkSchemas(response, named), example: firstExample(response) },
      },
    },
  };
}

function describeWithScope({ description, scope }: Operation): string {
  return scope === null ? description : `${description}\n\nRequires ${describeScope(scope)}.`;
}

const outcomes = {
  200: '',
  201: 'Created. ',
  202: 'Accepted; the work continues in the background. ',
};

function describeSuccess({ status, response }: Operation): string {
  return outcomes[status] + ((response as { description?: string }).description ?? '');
}

function firstExample(schema: TSchema): unknown {
  return (schema as { examples?: unknown[] }).examples?.[0];
}

type ParameterSchema = { type?: unknown; description?: string; examples?: unknown[]; enum?: unknown[] };

/** How a query parameter with several values is written: `type=a,b`, `metadata[key]=value`. */
function serializationOf({ type }: ParameterSchema) {
  if (type === 'array') return { style: 'form', explode: false };
  return type === 'object' ? { style: 'deepObject', explode: true } : {};
}

function describeParameters(definition: Operation) {
  const parameters: object[] = [];
  for (const [where, object] of [
    ['path', definition.params],
    ['query', definition.query],
  ] as const) {
    const required: readonly string[] = object?.required ?? [];
    for (const [name, schema] of Object.entries(object?.properties ?? {})) {
      const { description, ...rest } = schema as ParameterSchema;
      const example = rest.examples?.[0] ?? rest.enum?.[0];
      parameters.push({
        name,
        in: where,
        required: where === 'path' || required.includes(name),
        ...serializationOf(rest),
        ...(description && { description }),
        schema: rest,
        ...(example !== undefined && { example }),
      });
    }
  }
  const versions = { type: 'string', enum: [...apiVersions] };
  parameters.push(header('Service-Version', 'API version for this request.', versions, currentApiVersion));
  if (isWrite(definition)) {
    const schema = { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' };
    parameters.push(
      header('Idempotency-Key', 'Makes a retry safe. Stored for 24 hours.', schema, 'order-1001'),
    );
  }
  return parameters;
}

/** The feed is read in order, and hides what its types do not match. */
function hasFilters({ method, query, streams, files }: Operation): boolean {
  return (
    method === 'GET' &&
    !streams &&
    !files &&
    Object.keys(query?.properties ?? {}).some((name) => !isPaging(name))
  );
}

function describeErrors(definition: Operation) {
  const codes = new Set([
    ...commonErrors,
    ...(definition.query ? queryErrors : []),
    ...(hasFilters(definition) ? (['query_too_broad'] as const) : []),
    ...(isWrite(definition) ? writeErrors.filter((code) => mayHappen(code, definition)) : []),
    ...definition.refusals,
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = errors[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, statusCodes]) => [
      status,
      {
        description: statusCodes.map((code) => `\`${code}\`: ${errors[code].meaning}`).join('\n\n'),
        headers: { ...headerRefs, ...extraHeaders[status] },
        content: { 'application/json': { schema: schemaRef('Error') } },
      },
    ]),
  );
}

/** An operator's operation concerns no account that could be suspended. */
function mayHappen(code: ErrorCode, { scope, allowedWhenSuspended }: Operation): boolean {
  return code !== 'account_suspended' || (scope !== 'operator' && allowedWhenSuspended === undefined);
}

function header(name: string, description: string, schema: object, example: string) {
  return { name, in: 'header', required: false, description, schema, example };
}

function ref(kind: string, name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}
