import { Agent, request } from 'undici';
import type { CountedRead } from './feed-streams.ts';

type Page = { data: unknown[]; cursor: string };

/** Reads `count` events from the oldest on, one page of 1,000 after the other on one connection. */
export async function readFeedPages({ url, key, count }: CountedRead): Promise<{ elapsedMs: number }> {
  const dispatcher = new Agent({ connections: 1 });
  const headers = { authorization: `Bearer ${key}` };
  const startedAtMs = performance.now();
  let [after, seen] = ['start', 0];
  while (seen < count) {
    const path = `${url}/v1/events/feed?limit=1000&after=${after}`;
    const { statusCode, body } = await request(path, { headers, dispatcher });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${statusCode}: ${text}`);
    const page = JSON.parse(text) as Page;
    if (page.data.length < 1_000) throw new Error(`a page of ${page.data.length} after ${seen} events`);
    seen += page.data.length;
    after = page.cursor;
  }
  const elapsedMs = performance.now() - startedAtMs;
  await dispatcher.close();
  return { elapsedMs };
}
