import { nullableString } from './schema.ts';
import { linesPattern } from './text-patterns.ts';
import { Type } from './type.ts';

/** For every resource and operation that takes these fields. */
export const nullRule =
  'A request accepts every value that a response shows for the same field: null leaves the field unset on creation and clears it on PATCH. ' +
  '`metadata` is merged by name; a null or empty value removes the key.';

export const maxMetadataEntries = 20;

const limits = {
  type: 'object',
  maxProperties: maxMetadataEntries,
  propertyNames: { minLength: 1, maxLength: 40 },
};
const keyValuePairs =
  'Your own key-value pairs, such as order ids: up to 20 keys of up to 40 characters, values up to 500.';
const examples = [{ order_id: 'A-1001' }];

export const metadataSchema = Type.Unsafe<Record<string, string>>({
  ...limits,
  additionalProperties: { type: 'string', maxLength: 500 },
  description: keyValuePairs,
  examples,
});

/** For requests. */
export const metadataInput = Type.Unsafe<Record<string, string | null>>({
  ...limits,
  additionalProperties: { type: ['string', 'null'], maxLength: 500 },
  description: `${keyValuePairs} Null or an empty value removes a key.`,
  examples,
});

/** For requests. */
export const descriptionInput = nullableString({
  maxLength: 500,
  pattern: linesPattern,
  description: 'Your own note, up to 500 characters; null for none.',
});
