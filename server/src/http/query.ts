import { type AppError, invalid } from '../platform/app-error.ts';
import { clip } from '../platform/telemetry/clip.ts';
import { isStorable, unstorableText } from './json-body.ts';
import { compileValidator, type ObjectSchema, type Validator } from './validate.ts';

/**
 * Reads the text of a query by its schema: numbers, `true` and `false`, several values (`type=a,b`) and objects (`metadata[key]=value`). Text that
 * does not fit stays as it is, for the validator to refuse.
 */
export function readQuery(schema: ObjectSchema, query: Record<string, unknown>): Record<string, unknown> {
  const read = new Map<string, unknown>();
  const members = new Map<string, [key: string, value: unknown][]>();
  for (const [name, value] of Object.entries(query)) {
    // Cursors have their own check.
    if (name !== 'starting_after' && ![name, value].flat().every(isStorableText))
      throw unstorableText(clip(name));
    const [, object = '', key = ''] = /^(\w+)\[(.*)\]$/s.exec(name) ?? [];
    if (typeIn(schema, object) === 'object') {
      const entries = members.get(object) ?? [];
      entries.push([key, value]);
      members.set(object, entries);
    } else {
      read.set(name, parse(typeIn(schema, name), value));
    }
  }
  for (const [object, entries] of members) {
    if (!read.has(object)) read.set(object, Object.fromEntries(entries));
  }
  return Object.fromEntries(read);
}

/** The error names a parameter as the query has it: `type`, `metadata[key]`. */
export function compileQueryValidator(schema: ObjectSchema): Validator {
  const objects = Object.keys(schema.properties).filter((name) => typeIn(schema, name) === 'object');
  const validate = compileValidator(schema, {
    join(path, member) {
      if (path === '') return member;
      return objects.includes(path) ? `${path}[${member}]` : path;
    },
    nameOf: (property) => (objects.includes(property) ? `${property}[key]` : property),
  });
  return (query) => {
    const bare = objects.find((name) => typeof query[name] === 'string' || Array.isArray(query[name]));
    if (bare !== undefined) return withoutKey(bare);
    const refusal = validate(query);
    return refusal ?? emptyParameter(query);
  };
}

/** `?status=` is a form whose field was left empty. As a filter it would match nothing, or everything. */
function emptyParameter(query: Record<string, unknown>): AppError | null {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    isObject(value) ? Object.entries(value).map(([key, one]) => [`${name}[${key}]`, one]) : [[name, value]],
  );
  // Cursors have their own check.
  const [param] = pairs.find(([name, value]) => value === '' && name !== 'starting_after') ?? [];
  if (typeof param !== 'string') return null;
  const message = `${param} must not be empty. Leave it out if you do not want to filter by it.`;
  return invalid(param, message);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutKey(param: string): AppError {
  return invalid(param, `${param} needs a key, as in ${param}[key]=value.`);
}

function parse(type: string | undefined, value: unknown): unknown {
  if (type === 'array') return [value].flat().flatMap((one) => String(one).split(','));
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  const isNumeric = type === 'integer' && typeof value === 'string' && /^-?\d+$/.test(value);
  return isNumeric ? Number(value) : value;
}

function typeIn({ properties }: ObjectSchema, name: string): string | undefined {
  if (!Object.hasOwn(properties, name)) return undefined;
  return (properties[name] as { type?: string }).type;
}

function isStorableText(value: unknown): boolean {
  return typeof value !== 'string' || isStorable(value);
}
