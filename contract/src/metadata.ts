import { Type } from 'typebox';

/** A caller's own ids and notes, on what it creates. */
export const metadataSchema = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 20,
  propertyNames: { minLength: 1, maxLength: 40 },
  additionalProperties: { type: 'string', maxLength: 500 },
  description: 'Your own ids and notes: up to 20 pairs, names up to 40 characters, values up to 500.',
  examples: [{ order_id: 'A-1001' }],
});
