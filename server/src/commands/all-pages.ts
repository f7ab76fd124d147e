type Query = { limit: number; starting_after?: string };
type Page<Item> = { data: Item[]; next_cursor?: string };

const pageSize = 100;

/** Every item of a list of the API, in its order. */
export async function allPages<Item>(read: (query: Query) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  let page = await read({ limit: pageSize });
  items.push(...page.data);
  while (page.next_cursor !== undefined) {
    page = await read({ limit: pageSize, starting_after: page.next_cursor });
    items.push(...page.data);
  }
  return items;
}
