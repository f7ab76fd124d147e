import { type ErrorCode, errors, operatorScopes } from '@simplane/contract';

/** The parts of an OpenAPI 3.1 document that the page reads. `openApiDocument()` returns one. */
export type OpenApiDocument = {
  info: { title: string; version: string; summary?: string; description?: string };
  tags?: readonly { name: string; description?: string }[];
  paths: Record<string, Record<string, unknown>>;
  webhooks?: Record<string, { post?: Pick<RawOperation, 'description' | 'requestBody'> }>;
  components?: { schemas?: Record<string, unknown>; headers?: Record<string, unknown> };
};

/** The JSON Schema 2020-12 keywords that the contract uses. */
export type Schema = {
  $ref?: string;
  type?: string | readonly string[];
  title?: string;
  description?: string;
  const?: unknown;
  enum?: readonly unknown[];
  default?: unknown;
  examples?: readonly unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  minProperties?: number;
  maxProperties?: number;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
};

type ResponseHeader = { name: string; description: string };

export type SuccessResponse = {
  status: string;
  headers: ResponseHeader[];
  schema: Schema | null;
  example: unknown;
  /** Media types other than JSON, such as images. */
  otherTypes: string[];
};

export type DocOperation = {
  id: string;
  method: string;
  path: string;
  tag: string;
  summary: string;
  description: string;
  scope: string | null;
  /** The scope that includes `scope`, if any. */
  includedIn: string | null;
  /** For the operator of the deployment, and not for its accounts. */
  isOperators: boolean;
  parameters: Parameter[];
  body: { schema: Schema; required: boolean; example: unknown } | null;
  successes: SuccessResponse[];
  refusals: ErrorCode[];
};

type RawContent = Record<string, { schema?: Schema; example?: unknown }>;
type RawResponse = {
  description?: string;
  headers?: Record<string, { $ref?: string; description?: string }>;
  content?: RawContent;
};
type RawOperation = {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content?: RawContent };
  responses?: Record<string, RawResponse>;
};

const methods = ['get', 'post', 'put', 'patch', 'delete'];
const scopeSentence = /\n*Requires the `([^`]+)` scope(?: \(included in `([^`]+)`\))?\.\s*$/;

/** Returns every operation in document order. */
export function readOperations(document: OpenApiDocument): DocOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods
      .filter((method) => item[method])
      .map((method) => readOperation(document, method, path, item[method] as RawOperation)),
  );
}

/** The objects that operations return: every component that is not a request, a list, an event or the error. */
export function resourceNames(document: OpenApiDocument): string[] {
  return Object.entries(document.components?.schemas ?? {})
    .filter(([name, schema]) => {
      const { properties = {}, oneOf } = schema as Schema;
      const isEvent = oneOf !== undefined || properties['type']?.const !== undefined;
      return name !== 'Error' && !name.endsWith('Request') && !properties['has_more'] && !isEvent;
    })
    .map(([name]) => name);
}

/** The component that the schema references, or null. */
export function componentName(schema: Schema): string | null {
  return schema.$ref?.match(/^#\/components\/schemas\/(.+)$/)?.[1] ?? null;
}

export function resolve(schema: Schema, document: OpenApiDocument): Schema {
  const name = componentName(schema);
  return name === null ? schema : ((document.components?.schemas?.[name] as Schema | undefined) ?? {});
}

function readOperation(document: OpenApiDocument, method: string, path: string, raw: RawOperation) {
  const description = raw.description ?? '';
  const body = raw.requestBody?.content?.['application/json'];
  const responses = Object.entries(raw.responses ?? {});
  const [, scope = null, includedIn = null] = description.match(scopeSentence) ?? [];
  return {
    id: raw.operationId ?? `${method} ${path}`,
    method: method.toUpperCase(),
    path,
    tag: raw.tags?.[0] ?? 'Other',
    summary: raw.summary ?? raw.operationId ?? path,
    // The page shows the scope separately, so its sentence is removed here.
    description: description.replace(scopeSentence, ''),
    scope,
    includedIn,
    isOperators: (operatorScopes as readonly (string | null)[]).includes(scope),
    parameters: raw.parameters ?? [],
    body: body?.schema
      ? { schema: body.schema, required: raw.requestBody?.required === true, example: body.example }
      : null,
    successes: responses
      .filter(([status]) => status.startsWith('2'))
      .map(([status, response]) => readSuccess(document, status, response)),
    refusals: responses.flatMap(([status, response]) => (status.startsWith('2') ? [] : codesIn(response))),
  };
}

function readSuccess(document: OpenApiDocument, status: string, raw: RawResponse): SuccessResponse {
  const content = raw.content ?? {};
  return {
    status,
    headers: Object.entries(raw.headers ?? {}).map(([name, header]) => {
      const shared = document.components?.headers?.[header.$ref?.split('/').at(-1) ?? ''];
      return { name, description: { ...(shared as typeof header | undefined), ...header }.description ?? '' };
    }),
    schema: content['application/json']?.schema ?? null,
    example: content['application/json']?.example,
    otherTypes: Object.keys(content).filter((type) => type !== 'application/json'),
  };
}

/** An error response describes each code in a paragraph that starts with the code. */
function codesIn(response: RawResponse): ErrorCode[] {
  return [...(response.description ?? '').matchAll(/^`(\w+)`:/gm)]
    .map((match) => match[1] ?? '')
    .filter((code): code is ErrorCode => Object.hasOwn(errors, code));
}
