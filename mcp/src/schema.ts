import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { Operation } from '@simplane/contract';
import { note } from './bound-answer.ts';

export type JsonSchema = { [keyword: string]: unknown };
export type ObjectSchema = JsonSchema & { type: 'object'; properties: Record<string, JsonSchema> };

type Fields = { properties: Record<string, object>; required?: readonly string[] | undefined };

/** The arguments of a tool: the operation's fields plus tool-only ones. */
export function inputSchema(fields: Fields, extra: Record<string, JsonSchema> = {}): ObjectSchema {
  return portable({
    type: 'object',
    properties: { ...fields.properties, ...extra },
    required: [...(fields.required ?? [])],
    additionalProperties: false,
  }) as ObjectSchema;
}

/** The operation's response schema, plus the note of an answer that is not complete. */
export function outputSchema({ response }: Pick<Operation, 'response'>): ObjectSchema {
  const schema = portable(response) as ObjectSchema;
  return { ...schema, properties: { ...schema.properties, note } };
}

export function omit<S extends Fields>(schema: S, name: string): S {
  const { [name]: _, ...properties } = schema.properties;
  return { ...schema, properties, required: (schema.required ?? []).filter((other) => other !== name) };
}

/**
 * A schema for clients to read, without validation. The API validates every argument itself, and its errors name the
 * parameter, the code and the remedy.
 */
export function unvalidated<T>(schema: ObjectSchema): StandardSchemaWithJSON<T, T> {
  return {
    '~standard': {
      version: 1,
      vendor: 'simplane',
      jsonSchema: { input: () => schema, output: () => schema },
      validate: (value) => ({ value: value as T }),
    },
  };
}

/** Removes what some model providers reject: several types in one `type`, and an `enum` without a `type`. */
function portable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(portable);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, ...rest } = schema as JsonSchema;
  const entries = Object.entries(rest).map(([name, value]) => [
    name,
    name === 'examples' || name === 'default' ? value : portable(value),
  ]);
  const others = Object.fromEntries(entries) as JsonSchema;
  if (Array.isArray(type)) return splitTypes(type as string[], others);
  const isEnumOfText = type === undefined && Array.isArray(others['enum']);
  return {
    ...(isEnumOfText ? { type: 'string' } : type !== undefined && { type: portable(type) }),
    ...others,
  };
}

/** `null` has its own type here. */
function withoutNull({ enum: values, ...constraints }: JsonSchema): JsonSchema {
  return { ...constraints, ...(Array.isArray(values) && { enum: values.filter((one) => one !== null) }) };
}

function splitTypes(types: string[], { description, examples, ...constraints }: JsonSchema): JsonSchema {
  return {
    anyOf: types.map((type) => ({ type, ...(type !== 'null' && withoutNull(constraints)) })),
    ...(description !== undefined && { description }),
    ...(examples !== undefined && { examples }),
  };
}
