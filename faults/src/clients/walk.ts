import type { ListName } from '../history/history.ts';
import type { World } from '../world.ts';
import { ask } from './ask.ts';

type Page = { data: Record<string, unknown>[]; has_more: boolean; next_cursor?: string };

/** Reads a list from its first page to its last, a page here, a page there, and returns its items. */
export async function walk<Item>(
  world: World,
  { account, path, limit }: { account: number; path: string; limit: number },
): Promise<Item[]> {
  const items: Record<string, unknown>[] = [];
  let cursor: string | undefined;
  for (let page = 0; ; page++) {
    const query = cursor === undefined ? '' : `&starting_after=${encodeURIComponent(cursor)}`;
    const { status, text } = await ask(world, { account, path: `${path}?limit=${limit}${query}`, at: page });
    if (status !== 200) return items as Item[];
    const { data, has_more: hasMore, next_cursor: next } = JSON.parse(text) as Page;
    items.push(...data);
    if (!hasMore) return items as Item[];
    cursor = next;
  }
}

/** The same, kept in the history, so that it can be judged whether it showed everything once. */
export async function recordWalk(
  world: World,
  account: number,
  list: ListName,
  limit: number,
): Promise<void> {
  const startedMs = Date.now();
  const items = await walk<Record<string, string>>(world, { account, path: `/v1/${list}`, limit });
  const ids = items.map((item) => String(item['id'] ?? item['iccid']));
  world.history.walks.push({ account, list, startedMs, endedMs: Date.now(), limit, ids });
}
