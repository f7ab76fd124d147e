import { Type } from 'typebox';

/** `type: ["integer", "null"]` instead of `anyOf`: shorter in OpenAPI, and serialized without trying each branch. */
export function nullableInteger(options: object) {
  return Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options });
}

export function nullableString(options: object) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });
}

export function unixSeconds(description: string) {
  return Type.Integer({ minimum: 0, description: `${description} Unix time in seconds.` });
}
