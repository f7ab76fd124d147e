import { AppError } from '../app-error.ts';

export type JsonBody = {
  value: Record<string, unknown>;
  /** Sorted keys and no spaces, so equal JSON gives equal text. Empty unless requested. */
  canonical: string;
};

const decoder = new TextDecoder('utf-8', { fatal: true });
const maximumDepth = 64;

export const emptyBody: JsonBody = { value: {}, canonical: '{}' };

/**
 * Parses a JSON body and checks that it can be stored. An empty body counts as an empty object. The canonical form is for
 * an idempotency key's fingerprint. It doubles the parsing time, so it is built only for requests with a key.
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

/** The checks of `canonicalise` without building the text. */
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

/** Most members are a valid string or number, so their path is not built. */
function refuseMember(item: unknown, param: string, key: string | number, depth: number): void {
  if (typeof item === 'string' ? isStorable(item) : Number.isSafeInteger(item)) return;
  const inner = typeof key === 'number' ? `${param}[${key}]` : param === '' ? key : `${param}.${key}`;
  refuseUnstorable(item, inner, depth + 1);
}

function refuseInexact(value: number, param: string): void {
  if (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))) return;
  throw new AppError(
    'parameter_invalid',
    `${param} is too large to be stored as an exact number; send it as a string.`,
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
    `${param || 'The body'} contains U+0000 or an unpaired surrogate, which cannot be stored as text.`,
    param === '' ? {} : { param },
  );
}

/** PostgreSQL's text type cannot store U+0000, and UTF-8 cannot encode an unpaired surrogate. */
export function isStorable(text: string): boolean {
  return !unstorable.test(text);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: U+0000 is what this looks for.
const unstorable = /\u0000|\p{Surrogate}/u;
