import { type Static, type TProperties, type TSchema, Type } from 'typebox';

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
      data: Type.Array(item, { description: 'Items of this page, newest first.' }),
      has_more: Type.Boolean({ description: 'Whether another page exists.' }),
      next_cursor: Type.Optional(Type.String({ description: 'Opaque. Absent on the last page.' })),
    },
    { title },
  );
}

export type PageQuery = Static<ReturnType<typeof listQuery<Record<never, never>>>>;
