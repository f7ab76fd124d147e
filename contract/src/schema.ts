import type { Static, TObject, TProperties } from 'typebox';
import { exampleId } from './example-values.ts';
import type { IdPrefix } from './ids.ts';
import { Type } from './type.ts';

/** `type: ["integer", "null"]` instead of `anyOf`: shorter in OpenAPI, and serialized without trying each branch. */
export function nullableInteger(options: object) {
  return Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options });
}

export function nullableString(options: object) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });
}

export function nullableObject<Properties extends TProperties>(properties: Properties, options: object) {
  return Type.Unsafe<Static<TObject<Properties>> | null>({
    ...Type.Object(properties),
    ...options,
    type: ['object', 'null'],
  });
}

export function nullableUnixSeconds(description: string) {
  return nullableInteger({ description: `${description} Unix time in seconds.` });
}

/** For requests. The maximum is the last second of the year 9999. */
export function unixSecondsInput(description: string, options: object = {}) {
  const described = `${description} Unix time in seconds.`;
  return Type.Integer({ minimum: 0, maximum: 253402300799, description: described, ...options });
}

export function unixSeconds(description: string) {
  return Type.Integer({ minimum: 0, description: `${description} Unix time in seconds.` });
}

/** Path parameters of an operation on one object. */
export function idParams(prefix: IdPrefix, description: string) {
  return Type.Object({ id: Type.String({ description, examples: [exampleId(prefix)] }) });
}
