import { type OutputUnit, type Schema, validate } from '@cfworker/json-schema';

export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  examples?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  propertyNames?: JsonSchema;
  maxProperties?: number;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: JsonSchema;
};

type Content = { content?: { 'application/json'?: { schema: JsonSchema } } };

export type Described = {
  operationId: string;
  method: string;
  path: string;
  parameters: Parameter[];
  /** The schema of its body, with every $ref resolved. */
  body: JsonSchema | null;
  responses: Record<string, Content>;
};

export type OpenApi = {
  paths: Record<
    string,
    Record<string, Omit<Described, 'method' | 'path' | 'body'> & { requestBody?: Content }>
  >;
  components: { schemas: Record<string, JsonSchema> };
};

export function operationsOf(document: OpenApi): Described[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, ...operation }]) => {
      const body = requestBody?.content?.['application/json']?.schema;
      return {
        ...operation,
        method: method.toUpperCase(),
        path,
        body: body ? (resolve(document, body) as JsonSchema) : null,
      };
    }),
  );
}

/**
 * Checks an operation's responses with a validator that the service itself does not use. It is told what a reference names: a `Validator`
 * for each response finds that out by walking through all components, which took a third of the fuzz test's time.
 */
export function responseChecker({ components }: OpenApi, operation: Described) {
  const named = Object.fromEntries(
    Object.entries(components.schemas).map(([name, schema]) => [`#/components/schemas/${name}`, schema]),
  ) as Record<string, Schema>;
  const schemas = new Map(
    Object.entries(operation.responses).map(([status, { content }]) => {
      const schema = content?.['application/json']?.schema;
      if (!schema) throw new Error(`${operation.operationId} declares ${status} without a schema`);
      return [Number(status), schema as Schema] as const;
    }),
  );
  return (status: number, json: unknown): string | null => {
    const schema = schemas.get(status);
    if (!schema) return `${operation.operationId} does not declare the status ${status}`;
    const { valid, errors } = validate(json, schema, '2020-12', named, false);
    return valid ? null : errors.map(explain).join('; ');
  };
}

function explain({ instanceLocation, error }: OutputUnit): string {
  return `${instanceLocation}: ${error}`;
}

function resolve(document: OpenApi, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item) => resolve(document, item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref } = schema as JsonSchema;
  if ($ref !== undefined) return resolve(document, document.components.schemas[$ref.split('/').at(-1) ?? '']);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, resolve(document, value)]));
}
