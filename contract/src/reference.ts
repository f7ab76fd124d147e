import { nullableString } from './schema.ts';
import { oneLinePattern } from './text-patterns.ts';
import { Type } from './type.ts';

const maxLength = 100;
const examples = ['TRV-1007'];

/** On what an order made. */
export const referenceSchema = nullableString({
  description: 'Your own name for the order, as you sent it; null if you sent none.',
  examples,
});

/** For orders. */
export const referenceInput = nullableString({
  minLength: 1,
  maxLength,
  pattern: oneLinePattern,
  description:
    'Your own name for the order, such as its number in your shop: up to 100 characters on one line. Lists and `search` find it, and events carry it. It need not be unique.',
  examples,
});

/** For lists. */
export function referenceFilter(items: string) {
  return Type.String({
    minLength: 1,
    maxLength,
    description: `Only ${items} with exactly this \`reference\`.`,
    examples,
  });
}
