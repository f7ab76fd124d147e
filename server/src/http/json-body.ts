import { AppError } from '../app-error.ts';
import { clip } from '../clip.ts';

export type JsonBody = {
  value: Record<string, unknown>;
  /** The same for every serialisation of the same JSON: sorted keys, no spaces. */
  canonical: string;
};

const decoder = new TextDecoder('utf-8', { fatal: true });
const maximumDepth = 64;

export const emptyBody: JsonBody = { value: {}, canonical: '{}' };

/** Reads a body as JSON that can be stored. No body at all counts as an empty object. */
export function parseJsonBody(bytes: Buffer): JsonBody {
  if (bytes.length === 0) return emptyBody;
  const value = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('json_invalid', 'The body must be a JSON object, such as {"product_id": "…"}.');
  }
  return { value: value as Record<string, unknown>, canonical: canonicalise(value, '', 1) };
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
      if (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value)))
        return JSON.stringify(value);
      throw new AppError(
        'parameter_invalid',
        `${param} is a number too large to be kept exactly; send it as a string.`,
        { param },
      );
    case 'object':
      if (value === null) return 'null';
      break;
    default:
      return String(value);
  }
  if (depth > maximumDepth) {
    throw new AppError('json_invalid', `The body is nested deeper than ${maximumDepth} levels.`);
  }
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

function canonicalText(text: string, param: string): string {
  if (isStorable(text)) return JSON.stringify(text);
  throw unstorableText(param);
}

export function unstorableText(param: string): AppError {
  return new AppError(
    'parameter_invalid',
    `${clip(param) || 'The body'} holds U+0000 or half of a surrogate pair, which cannot be stored as text.`,
    param === '' ? {} : { param: clip(param) },
  );
}

/** PostgreSQL's text has no U+0000, and UTF-8 has no lone surrogates. */
export function isStorable(text: string): boolean {
  return !unstorable.test(text);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: U+0000 is what this looks for.
const unstorable = /\u0000|\p{Surrogate}/u;
