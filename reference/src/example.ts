import { type OpenApiDocument, resolve, type Schema } from './document.ts';
import { hintFor, idExample } from './example-hints.ts';
import { patternExample } from './pattern-example.ts';

/**
 * Returns a plausible value: the document's own example, else a hint by field name, else a value within the schema's limits.
 * Optional fields appear only if the document has an example for them. This avoids contradictions (queued, yet failed).
 */
export function exampleOf(schema: Schema, document: OpenApiDocument, path = ''): unknown {
  const plain = resolve(schema, document);
  if (plain.const !== undefined) return plain.const;
  if (plain.examples && plain.examples.length > 0) return plain.examples[0];
  if (isNullAtCreation(plain, path)) return null;
  const variants = plain.anyOf ?? plain.oneOf;
  if (variants) return exampleOf(variants.find((one) => one.type !== 'null') ?? {}, document, path);
  if (plain.allOf) return exampleOf(merged(plain, document), document, path);
  const hint = hintFor(path, plain);
  if (hint !== undefined) return hint;
  if (plain.enum) return plain.enum[0];
  if (plain.default !== undefined) return plain.default;
  return byType(plain, document, path);
}

function byType(schema: Schema, document: OpenApiDocument, path: string): unknown {
  switch (mainType(schema)) {
    case 'object':
      return exampleObject(schema, document, path);
    case 'array':
      return exampleArray(schema, document, path);
    case 'integer':
    case 'number':
      return exampleNumber(schema);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return exampleString(schema, path);
  }
}

export function mainType(schema: Schema): string {
  const type = [schema.type].flat().find((candidate) => candidate !== 'null' && candidate !== undefined);
  if (type !== undefined) return type;
  if (schema.properties || schema.additionalProperties !== undefined) return 'object';
  if (schema.items) return 'array';
  const value = schema.const ?? schema.enum?.[0];
  return value === undefined || value === null ? (schema.type === 'null' ? 'null' : 'any') : typeof value;
}

/** Examples show an object just after its creation, when fields about later events are still null. */
function isNullAtCreation(schema: Schema, path: string): boolean {
  const nullable =
    [schema.type].flat().includes('null') ||
    (schema.anyOf ?? schema.oneOf ?? []).some((variant) => variant.type === 'null');
  return (
    nullable &&
    (path.endsWith('_at') || /null (until|unless|while|when|before)/i.test(schema.description ?? ''))
  );
}

function exampleObject(schema: Schema, document: OpenApiDocument, path: string): Record<string, unknown> {
  const example: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const isShown = schema.required?.includes(name) || resolve(field, document).examples !== undefined;
    if (isShown) example[name] = exampleOf(field, document, `${path}.${name}`);
  }
  return example;
}

function exampleArray(schema: Schema, document: OpenApiDocument, path: string): unknown[] {
  const items = schema.items ?? {};
  const least = Math.max(1, schema.minItems ?? 0);
  const values = resolve(items, document).enum;
  if (values) return values.slice(0, Math.max(least, Math.min(2, schema.maxItems ?? 2)));
  return Array.from({ length: least }, () => exampleOf(items, document, path.replace(/s$/, '')));
}

function exampleNumber(schema: Schema): number {
  const least = schema.minimum ?? (schema.exclusiveMinimum === undefined ? 0 : schema.exclusiveMinimum + 1);
  const step = schema.multipleOf ?? 1;
  return Math.min(Math.ceil(least / step) * step, schema.maximum ?? Infinity);
}

const formats: Record<string, string> = {
  uri: 'https://example.com/',
  email: 'ada@example.com',
  uuid: '0193a3c1-5c00-7000-8000-000000000000',
  'date-time': '2026-11-01T09:30:00Z',
  date: '2026-11-01',
};

function exampleString(schema: Schema, path: string): string {
  const name = path.split('.').at(-1) ?? '';
  if (schema.pattern !== undefined) return idExample(schema.pattern) ?? patternExample(schema.pattern) ?? '';
  const text = formats[schema.format ?? ''] ?? (name === '' ? 'text' : name.replaceAll('_', ' '));
  return text.padEnd(schema.minLength ?? 0, '.').slice(0, schema.maxLength ?? undefined);
}

function merged(schema: Schema, document: OpenApiDocument): Schema {
  const { allOf = [], ...own } = schema;
  const parts = [own, ...allOf.map((part) => resolve(part, document))];
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map((part) => part.properties)),
    required: parts.flatMap((part) => part.required ?? []),
  };
}
