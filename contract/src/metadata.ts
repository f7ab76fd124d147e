import { Type } from 'typebox';

export const metadataSchema = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 20,
  propertyNames: { minLength: 1, maxLength: 40 },
  additionalProperties: { type: 'string', maxLength: 500 },
  description:
    'Your own key-value pairs, such as order ids: up to 20 keys of up to 40 characters, values up to 500.',
  examples: [{ order_id: 'A-1001' }],
});
