import { type Static, type TProperties, type TSchema, Type } from 'typebox';

export const pageSize = { default: 10, maximum: 100 } as const;

/** The query of every list; `filters` are the list's own. Anything else is refused by name: a misspelt cursor would loop forever. */
export function listQuery<F extends TProperties>(filters: F) {
  return Type.Object(
    {
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          default: pageSize.default,
          description: `Page size. Above ${pageSize.maximum} is treated as ${pageSize.maximum}; it may change between pages.`,
        }),
      ),
      starting_after: Type.Optional(
        Type.String({ description: 'The `next_cursor` of the previous page, unchanged.' }),
      ),
      ...filters,
    },
    { additionalProperties: false },
  );
}

export function listOf<T extends TSchema>(item: T, title: string) {
  return Type.Object(
    {
      object: Type.Literal('list'),
      data: Type.Array(item, { description: 'Newest first.' }),
      has_more: Type.Boolean({ description: 'False on the last page.' }),
      next_cursor: Type.Optional(Type.String({ description: 'Opaque; present when another page exists.' })),
    },
    { title },
  );
}

export type PageQuery = Static<ReturnType<typeof listQuery<Record<never, never>>>>;
