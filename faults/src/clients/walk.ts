import type { ListName } from '../history/history.ts';
import type { RunContext } from '../run-context.ts';
import { send } from './send.ts';

type Page = { data: Record<string, unknown>[]; has_more: boolean; next_cursor?: string };

/** Reads a whole list, each page from the next process, and returns its items. */
export async function walk<Item>(
  ctx: RunContext,
  { path, limit, ...by }: { account: number; isOperator?: boolean; path: string; limit: number },
): Promise<Item[]> {
  const items: Record<string, unknown>[] = [];
  let cursor: string | undefined;
  for (let page = 0; ; page++) {
    const query = cursor === undefined ? '' : `&starting_after=${encodeURIComponent(cursor)}`;
    const { status, text } = await send(ctx, { ...by, path: `${path}?limit=${limit}${query}`, at: page });
    if (status !== 200) return items as Item[];
    const { data, has_more: hasMore, next_cursor: next } = JSON.parse(text) as Page;
    items.push(...data);
    if (!hasMore) return items as Item[];
    cursor = next;
  }
}

/** Walks a list and records the result in the history for the checks. */
export async function recordWalk(
  ctx: RunContext,
  account: number,
  list: ListName,
  limit: number,
): Promise<void> {
  const startedMs = Date.now();
  const items = await walk<Record<string, string>>(ctx, { account, path: `/v1/${list}`, limit });
  const ids = items.map((item) => String(item['id'] ?? item['iccid']));
  ctx.history.walks.push({ account, list, startedMs, endedMs: Date.now(), limit, ids });
}
