import { apiVersions, currentApiVersion } from './api-version.ts';
import { Bundle } from './bundle.ts';
import { Delivery } from './delivery.ts';
import { ErrorBody, type ErrorCode, errors } from './errors.ts';
import { Esim, InstallProfile } from './esim.ts';
import { Event, EventType } from './event.ts';
import { Execution } from './execution.ts';
import { Identity } from './identity.ts';
import { describeScope, isWrite, type Operation } from './operation.ts';
import { operations } from './operations.ts';
import { Product } from './product.ts';
import { UsageRecordBatch } from './usage-record.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

/** Errors that any operation can return before its own work begins. */
const commonErrors: readonly ErrorCode[] = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_expired',
  'api_key_wrong_mode',
  'scope_missing',
  'api_version_unknown',
  'rate_limited',
  'internal',
  'unavailable',
];
const queryErrors: readonly ErrorCode[] = ['parameter_invalid', 'parameter_unknown'];
const writeErrors: readonly ErrorCode[] = [
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

/** Derives the OpenAPI 3.1 document from the operations. */
export function openApiDocument() {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [id, definition] of Object.entries(operations) as [string, Operation][]) {
    paths[definition.path] = {
      ...paths[definition.path],
      [definition.method.toLowerCase()]: describeOperation(id, definition),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Simplane',
      version: currentApiVersion,
      summary: 'Provision eSIMs over HTTP.',
      description:
        'Every request needs `Authorization: Bearer <API_KEY>`. Every POST, PATCH and DELETE accepts an ' +
        '`Idempotency-Key`: a retry within 24 hours returns the original response, and the work runs once. ' +
        'Lists are sorted newest first and paginated with `limit` and `starting_after`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This deployment' }],
    security: [{ apiKey: [] }],
    tags: [...new Set(Object.values(operations).map((definition) => definition.tag))].map((name) => ({
      name,
    })),
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: '`sp_test_…` in a sandbox, `sp_live_…` in live mode.',
        },
      },
      headers: {
        RequestId: { description: 'Id of the request, for logs and support.', schema: { type: 'string' } },
        ServiceVersion: {
          description: 'API version of the response.',
          schema: { type: 'string', enum: [...apiVersions] },
        },
        RetryAfter: { description: 'Seconds to wait before retrying.', schema: { type: 'integer' } },
        IdempotentReplayed: {
          description: '`true` if this is the stored response of an earlier request.',
          schema: { type: 'string', const: 'true' },
        },
        Location: { description: 'URL to check the status of the work.', schema: { type: 'string' } },
      },
      schemas: Object.fromEntries(
        Object.entries(components).map(([name, schema]) => [name, linkComponents(schema, name)]),
      ),
    },
  };
}

/** Schemas that the document references by name. */
export const components: Record<string, object> = {
  Bundle,
  Delivery,
  Error: ErrorBody,
  Esim,
  Event,
  EventType,
  Execution,
  Identity,
  InstallProfile,
  Product,
  UsageRecordBatch,
  WebhookEndpoint,
};

function describeOperation(operationId: string, definition: Operation) {
  const success = {
    description: 'Success.',
    headers: {
      ...headerRefs,
      ...(isWrite(definition) && { 'Idempotent-Replayed': ref('headers', 'IdempotentReplayed') }),
      ...(definition.status === 202 && { Location: ref('headers', 'Location') }),
    },
    content: {
      'application/json': { schema: linkComponents(definition.response) },
      ...Object.fromEntries((definition.pictures ?? []).map((type) => [type, {}])),
    },
  };
  return {
    operationId,
    tags: [definition.tag],
    summary: definition.summary,
    description: `${definition.description}\n\nRequires ${describeScope(definition.scope)}.`,
    parameters: describeParameters(definition),
    ...(definition.body && {
      requestBody: {
        required: true,
        ...(definition.bodyLimitBytes !== undefined && {
          description: `At most ${definition.bodyLimitBytes / 1024 / 1024} MB.`,
        }),
        content: { 'application/json': { schema: linkComponents(definition.body) } },
      },
    }),
    responses: { [definition.status]: success, ...describeErrors(definition) },
  };
}

function describeParameters(definition: Operation) {
  const parameters: object[] = [];
  for (const [where, object] of [
    ['path', definition.params],
    ['query', definition.query],
  ] as const) {
    for (const [name, schema] of Object.entries(object?.properties ?? {})) {
      const { description, ...rest } = schema as { description?: string };
      parameters.push({
        name,
        in: where,
        required: where === 'path',
        ...(description && { description }),
        schema: rest,
      });
    }
  }
  parameters.push(
    header('Service-Version', 'API version for this request.', { type: 'string', enum: [...apiVersions] }),
  );
  if (isWrite(definition)) {
    const schema = { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' };
    parameters.push(header('Idempotency-Key', 'Makes a retry safe. Stored for 24 hours.', schema));
  }
  return parameters;
}

function describeErrors(definition: Operation) {
  const codes = new Set([
    ...commonErrors,
    ...(definition.query ? queryErrors : []),
    ...(isWrite(definition) ? writeErrors : []),
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
        content: { 'application/json': { schema: ref('schemas', 'Error') } },
      },
    ]),
  );
}

/** Replaces every schema whose title names a component with a reference to it. */
function linkComponents(schema: unknown, self?: string): unknown {
  if (Array.isArray(schema)) return schema.map((item) => linkComponents(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const title = (schema as { title?: unknown }).title;
  if (typeof title === 'string' && title in components && title !== self) return ref('schemas', title);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, linkComponents(value)]));
}

function header(name: string, description: string, schema: object) {
  return { name, in: 'header', required: false, description, schema };
}

function ref(kind: string, name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}
