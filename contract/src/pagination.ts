import type { Static, TProperties, TSchema } from 'typebox';
import { Type } from './type.ts';

export const pageSize = { default: 10, maximum: 100 } as const;

/** Query parameters of every list, plus the list's own `filters`. Unknown ones are refused: a misspelled cursor would loop forever. */
export function listQuery<F extends TProperties>(filters: F) {
  return Type.Object(
    {
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          default: pageSize.default,
          description: `Page size. Values above ${pageSize.maximum} are treated as ${pageSize.maximum}. You can change it between pages.`,
          examples: [3],
        }),
      ),
      starting_after: Type.Optional(
        Type.String({
          description: 'The `next_cursor` of the previous page, unchanged.',
          examples: ['eyJhIjoiMDFrOTQifQ'],
        }),
      ),
      ...filters,
    },
    { additionalProperties: false },
  );
}

/** Whether a query parameter turns pages, as opposed to a filter. */
export function isPaging(name: string): boolean {
  return name === 'limit' || name === 'starting_after';
}

/** The example is a page with the example of the item. */
export function listOf<T extends TSchema>(item: T, title: string, order = 'newest first') {
  const { title: itemTitle, examples = [] } = item as { title?: string; examples?: unknown[] };
  return Type.Object(
    {
      object: Type.Literal('list'),
      data: Type.Array(item, { description: `Items of this page, ${order}.` }),
      has_more: Type.Boolean({ description: 'Whether another page exists.' }),
      next_cursor: Type.Optional(Type.String({ description: 'Opaque. Absent on the last page.' })),
    },
    {
      title,
      description: `A page of \`${itemTitle}\` objects.`,
      examples: [{ object: 'list', data: examples.slice(0, 1), has_more: false }],
    },
  );
}

export type PageQuery = Static<ReturnType<typeof listQuery<Record<never, never>>>>;
