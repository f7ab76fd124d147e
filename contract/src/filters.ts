import type { TSchema } from 'typebox';
import { exampleTime } from './example-values.ts';
import { unixSecondsInput } from './schema.ts';
import { Type } from './type.ts';

/** Filters of a list by the time its items were created. */
export function createdFilters(items: string) {
  const filter = (which: string, example: number) =>
    Type.Optional(unixSecondsInput(`Only ${items} ${which} this time.`, { examples: [example] }));
  return {
    'created[gt]': filter('after', exampleTime),
    'created[gte]': filter('at or after', exampleTime),
    'created[lt]': filter('before', exampleTime + 86_400),
    'created[lte]': filter('at or before', exampleTime + 86_400),
  };
}

/** A filter that takes several values, separated by commas: `type=a,b`. An item matches if it has one of them. */
export function severalOf<T extends TSchema>(value: T, description: string, examples: string[][]) {
  return Type.Array(value, {
    minItems: 1,
    maxItems: 50,
    description: `${description} Separate several by commas.`,
    examples,
  });
}

/** A filter by pairs, written as `metadata[key]=value`. An item matches if it has all of them. */
export const metadataFilter = Type.Unsafe<Record<string, string>>({
  type: 'object',
  minProperties: 1,
  maxProperties: 5,
  propertyNames: { minLength: 1, maxLength: 40 },
  additionalProperties: { type: 'string', maxLength: 500 },
  description:
    'Only items with this pair in `metadata`, written as `metadata[order_id]=A-1001`. Up to five pairs, all of which must match.',
  examples: [{ order_id: 'A-1001' }],
});
