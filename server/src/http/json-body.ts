import { AppError } from '../app-error.ts';

export type JsonBody = {
  value: Record<string, unknown>;
  /** The same for every serialisation of the same JSON: sorted keys, no spaces. Empty when it was not asked for. */
  canonical: string;
};

const decoder = new TextDecoder('utf-8', { fatal: true });
const maximumDepth = 64;

export const emptyBody: JsonBody = { value: {}, canonical: '{}' };

/**
 * Reads a body as JSON that can be stored. No body at all counts as an empty object. Its canonical form is for the
 * fingerprint of a key; making it takes as long as all else, so requests without a key go without.
 */
export function parseJsonBody(bytes: Buffer, options: { isCanonicalWanted: boolean }): JsonBody {
  if (bytes.length === 0) return emptyBody;
  const value = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('json_invalid', 'The body must be a JSON object, such as {"product_id": "…"}.');
  }
  if (options.isCanonicalWanted) {
    return { value: value as Record<string, unknown>, canonical: canonicalise(value, '', 1) };
  }
  refuseUnstorable(value, '', 1);
  return { value: value as Record<string, unknown>, canonical: '' };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch (cause) {
    const why = cause instanceof SyntaxError ? 'is not valid JSON' : 'is not valid UTF-8';
    throw new AppError('json_invalid', `The body ${why}.`, { cause });
  }
}

function canonicalise(value: unknown, param: string, depth: number): string {
  switch (typeof value) {
    case 'string':
      return canonicalText(value, param);
    case 'number':
      refuseInexact(value, param);
      return JSON.stringify(value);
    case 'object':
      if (value === null) return 'null';
      break;
    default:
      return String(value);
  }
  refuseDepth(depth);
  if (Array.isArray(value)) {
    return `[${value.map((item, index) => canonicalise(item, `${param}[${index}]`, depth + 1)).join(',')}]`;
  }
  const pairs = Object.entries(value as object)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => {
      const inner = param === '' ? name : `${param}.${name}`;
      return `${canonicalText(name, param)}:${canonicalise(item, inner, depth + 1)}`;
    });
  return `{${pairs.join(',')}}`;
}

/** What `canonicalise` refuses, without making anything. */
function refuseUnstorable(value: unknown, param: string, depth: number): void {
  if (typeof value === 'string') {
    if (!isStorable(value)) throw unstorableText(param);
  } else if (typeof value === 'number') {
    refuseInexact(value, param);
  } else if (Array.isArray(value)) {
    refuseDepth(depth);
    for (const [index, item] of value.entries()) refuseMember(item, param, index, depth);
  } else if (typeof value === 'object' && value !== null) {
    refuseDepth(depth);
    for (const [name, item] of Object.entries(value)) {
      if (!isStorable(name)) throw unstorableText(param);
      refuseMember(item, param, name, depth);
    }
  }
}

/** Most members are a good text or number, and their path need not be spelt out. */
function refuseMember(item: unknown, param: string, place: string | number, depth: number): void {
  if (typeof item === 'string' ? isStorable(item) : Number.isSafeInteger(item)) return;
  const inner = typeof place === 'number' ? `${param}[${place}]` : param === '' ? place : `${param}.${place}`;
  refuseUnstorable(item, inner, depth + 1);
}

function refuseInexact(value: number, param: string): void {
  if (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))) return;
  throw new AppError(
    'parameter_invalid',
    `${param} is a number too large to be kept exactly; send it as a string.`,
    { param },
  );
}

function refuseDepth(depth: number): void {
  if (depth <= maximumDepth) return;
  throw new AppError('json_invalid', `The body is nested deeper than ${maximumDepth} levels.`);
}

function canonicalText(text: string, param: string): string {
  if (isStorable(text)) return JSON.stringify(text);
  throw unstorableText(param);
}

export function unstorableText(param: string): AppError {
  return new AppError(
    'parameter_invalid',
    `${param || 'The body'} holds U+0000 or half of a surrogate pair, which cannot be stored as text.`,
    param === '' ? {} : { param },
  );
}

/** PostgreSQL's text has no U+0000, and UTF-8 has no lone surrogates. */
export function isStorable(text: string): boolean {
  return !unstorable.test(text);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: U+0000 is what this looks for.
const unstorable = /\u0000|\p{Surrogate}/u;
