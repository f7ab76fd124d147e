import { AppError, invalid } from '../platform/app-error.ts';

export type JsonBody = {
  value: Record<string, unknown>;
  /** Sorted keys and no spaces, so equal JSON gives equal text. Empty unless requested. */
  canonical: string;
};

/** A body's text. `longInteger` is the path of the first one, looked for when it matters, which is rare; null if there is none. */
type Source = { text: string; longInteger: string | null | undefined };

const decoder = new TextDecoder('utf-8', { fatal: true });
const maximumDepth = 64;

export const emptyBody: JsonBody = { value: {}, canonical: '{}' };

/**
 * Parses a JSON body and checks that it can be stored. An empty body counts as an empty object. The canonical form is for
 * an idempotency key's fingerprint. It doubles the parsing time, so it is built only for requests with a key.
 */
export function parseJsonBody(bytes: Buffer, options: { isCanonicalWanted: boolean }): JsonBody {
  if (bytes.length === 0) return emptyBody;
  const text = decode(bytes);
  const value = parse(text);
  const source: Source = { text, longInteger: undefined };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('json_invalid', 'The body must be a JSON object, such as {"product_id": "…"}.');
  }
  if (options.isCanonicalWanted) {
    return { value: value as Record<string, unknown>, canonical: canonicalise(value, source, '', 1) };
  }
  refuseUnstorable(value, source, '', 1);
  return { value: value as Record<string, unknown>, canonical: '' };
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new AppError('json_invalid', 'The body is not valid UTF-8. Send one JSON object in UTF-8.', {
      cause,
    });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('json_invalid', 'The body is not valid JSON. Send one JSON object in UTF-8.', {
      cause,
    });
  }
}

function canonicalise(value: unknown, source: Source, param: string, depth: number): string {
  switch (typeof value) {
    case 'string':
      return canonicalText(value, param);
    case 'number':
      refuseInexact(value, source, param);
      return JSON.stringify(value);
    case 'object':
      if (value === null) return 'null';
      break;
    default:
      return String(value);
  }
  refuseDepth(depth);
  if (Array.isArray(value)) {
    return `[${value.map((item, index) => canonicalise(item, source, memberOf(param, index), depth + 1)).join(',')}]`;
  }
  const pairs = Object.entries(value as object)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, item]) =>
        `${canonicalText(name, param)}:${canonicalise(item, source, memberOf(param, name), depth + 1)}`,
    );
  return `{${pairs.join(',')}}`;
}

/** The checks of `canonicalise` without building the text. */
function refuseUnstorable(value: unknown, source: Source, param: string, depth: number): void {
  if (typeof value === 'string') {
    if (!isStorable(value)) throw unstorableText(param);
  } else if (typeof value === 'number') {
    refuseInexact(value, source, param);
  } else if (Array.isArray(value)) {
    refuseDepth(depth);
    for (const [index, item] of value.entries()) refuseMember(item, source, param, index, depth);
  } else if (typeof value === 'object' && value !== null) {
    refuseDepth(depth);
    for (const [name, item] of Object.entries(value)) {
      if (!isStorable(name)) throw unstorableText(param);
      refuseMember(item, source, param, name, depth);
    }
  }
}

/** Most members are a valid string or number, so their path is not built. */
function refuseMember(
  item: unknown,
  source: Source,
  param: string,
  key: string | number,
  depth: number,
): void {
  if (typeof item === 'string' ? isStorable(item) : Number.isSafeInteger(item)) return;
  refuseUnstorable(item, source, memberOf(param, key), depth + 1);
}

function memberOf(param: string, key: string | number): string {
  if (typeof key === 'number') return `${param}[${key}]`;
  return param === '' ? key : `${param}.${key}`;
}

/** Refuses integers that lose digits, and numbers that no double can hold. `1e21` is a double, and stays equal. */
function refuseInexact(value: number, source: Source, param: string): void {
  if (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))) return;
  if (!Number.isFinite(value)) throw inexact(param);
  if (source.longInteger === undefined) source.longInteger = firstLongInteger(source.text);
  if (source.longInteger !== null) throw inexact(source.longInteger);
}

function inexact(param: string): AppError {
  return invalid(param, `${param} is too large to be stored as an exact number; send it as a string.`);
}

// The text was parsed before, so it is valid JSON: every quote outside a string begins one that ends.
const jsonToken = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
// Valid text cannot contain it: U+0000 is refused.
const mark = '\u0000';

/**
 * The path of a number that is written as an integer beyond 2^53, or null. `JSON.parse` does not tell how a number was written.
 * It stops at the first: a set of 6,000 paths with 17,000 characters each took 28 s, because V8 hashes such text by its length only.
 */
function firstLongInteger(text: string): string | null {
  if (!/\d{16}/.test(text)) return null;
  const isLong = (token: string) => /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));
  const marked = JSON.parse(text.replaceAll(jsonToken, (token) => (isLong(token) ? '"\\u0000"' : token)));
  return findMark(marked, '', 1);
}

function findMark(value: object, param: string, depth: number): string | null {
  const isList = Array.isArray(value);
  for (const [key, item] of Object.entries(value)) {
    if (item !== mark && (typeof item !== 'object' || item === null)) continue;
    const member = memberOf(param, isList ? Number(key) : key);
    if (item === mark) return member;
    const found = depth < maximumDepth ? findMark(item, member, depth + 1) : null;
    if (found !== null) return found;
  }
  return null;
}

function refuseDepth(depth: number): void {
  if (depth <= maximumDepth) return;
  throw new AppError(
    'json_invalid',
    `The body is nested deeper than ${maximumDepth} levels; send it flatter.`,
  );
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
