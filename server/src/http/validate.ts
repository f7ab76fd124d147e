import { countryPattern, linesPattern, oneLinePattern, profileTypePattern } from '@simplane/contract';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { AppError, invalid } from '../platform/app-error.ts';
import { clip } from '../platform/telemetry/clip.ts';

export type ObjectSchema = { properties: Record<string, object>; additionalProperties?: unknown };

export type Validator = (value: Record<string, unknown>) => AppError | null;

// Compiling the meta-schema would take as long as all of ours. Ajv itself refuses wrong keywords and values of a wrong type.
const ajv = new Ajv({
  strict: true,
  allowUnionTypes: true,
  verbose: true,
  meta: false,
  validateSchema: false,
});

/** How parameters are written: the members of an object or array, and the names in the message about an unknown one. */
export type Notation = { join(path: string, member: string): string; nameOf(property: string): string };

/** Checks a body or a query against its schema. The error names the parameter and says what to change. */
export function compileValidator(schema: ObjectSchema, notation: Notation = inBody): Validator {
  const check = ajv.compile(schema) as ValidateFunction;
  const known = new Set(Object.keys(schema.properties));
  return (value) => {
    // Checked first, because a misspelled name explains a missing parameter better.
    const unknown =
      schema.additionalProperties === false && Object.keys(value).find((name) => !known.has(name));
    if (typeof unknown === 'string') return unknownParameter(unknown, [...known].map(notation.nameOf));
    if (check(value)) return null;
    const [error] = check.errors ?? [];
    return error ? explain(error, notation) : null;
  };
}

const inBody: Notation = {
  join(path, member) {
    if (path === '') return member;
    return /^\d+$/.test(member) ? `${path}[${member}]` : `${path}.${member}`;
  },
  nameOf: (property) => property,
};

function explain(error: ErrorObject, { join }: Notation): AppError {
  const path = partsOf(error.instancePath).reduce(join, '');
  if (error.keyword === 'required') {
    const param = join(path, String(error.params['missingProperty']));
    return new AppError('parameter_missing', `${param} is required.`, { param });
  }
  if (error.keyword === 'additionalProperties') {
    const known = Object.keys((error.parentSchema as { properties?: object }).properties ?? {});
    return unknownParameter(join(path, String(error.params['additionalProperty'])), known);
  }
  const param = error.propertyName === undefined ? path : join(path, error.propertyName);
  return invalid(param, `${param} ${requirement(error)}; got ${shorten(error)}.`);
}

function requirement({ keyword, params, propertyName, message }: ErrorObject): string {
  const limit = params['limit'];
  if (propertyName !== undefined) return 'has a name of the wrong length: names must have 1 to 40 characters';
  switch (keyword) {
    case 'type':
      return `must be ${[params['type']].flat().map(withArticle).join(' or ')}`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} items`;
    case 'maxItems':
      return `must have at most ${limit} items`;
    case 'maxProperties':
      return `must have at most ${limit} entries`;
    case 'uniqueItems':
      return 'must not repeat an item';
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
    case 'pattern':
      if (params['pattern'] === countryPattern) return 'must be an ISO 3166-1 alpha-2 country code';
      if (params['pattern'] === profileTypePattern)
        return 'must be printable ASCII without a space at either end';
      if (params['pattern'] === oneLinePattern)
        return 'must not contain control characters, such as tabs and line breaks';
      if (params['pattern'] === linesPattern)
        return 'must not contain control characters other than tabs and line breaks';
      return `must match ${params['pattern']}`;
    default:
      return message ?? 'is not valid';
  }
}

function unknownParameter(param: string, known: string[]): AppError {
  const takes = known.length > 0 ? `this operation takes ${known.join(', ')}` : 'this operation takes none';
  return new AppError('parameter_unknown', `${param} is not a parameter; ${takes}.`, { param });
}

function partsOf(instancePath: string): string[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function withArticle(type: unknown): string {
  return type === 'null' ? 'null' : /^[aeio]/.test(String(type)) ? `an ${type}` : `a ${type}`;
}

/** Without a list of them: one of 4 million characters takes 32 MB. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function shorten({ data, keyword, parentSchema }: ErrorObject): string {
  if ((parentSchema as { writeOnly?: boolean }).writeOnly) return 'something else'; // never repeat a secret
  if (keyword === 'maxLength') return `${countCharacters(String(data))}`;
  if (keyword === 'maxProperties') return `${Object.keys(data as object).length}`;
  if (Array.isArray(data)) return `a list of ${data.length}`;
  return typeof data === 'object' && data !== null ? 'an object' : clip(JSON.stringify(data) ?? 'nothing');
}
