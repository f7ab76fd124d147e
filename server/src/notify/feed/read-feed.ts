import { type CursorOwner, encodePlace, type Place } from './cursor.ts';
import { type Feed, isWithin, unknownPlace } from './find-place.ts';
import type { Watch } from './hub.ts';
import { type FeedEvent, matchTypes, readAfter } from './read-page.ts';
import { type Head, locatePosition } from './sql/read.ts';

/** What to read. `types` null: all. `param` is where the place came from, for the error if it has expired. */
export type Reading = {
  after: Place;
  /** The end of the feed when the place was looked up; read if it is not given. */
  head?: Head;
  types: readonly string[] | null;
  limit: number;
  param?: string;
};

// A page of larger events is shorter than its limit.
const maxPageBytes = 4 * 1024 * 1024;
// A filter that hides everything gets an empty page after so many events, and continues from its cursor.
const maxScanned = 20_000;
const scanCount = 1_000;

export type FeedPage = { events: FeedEvent[]; place: Place; isCaughtUp: boolean };

/** The next page, or an empty one at the end of the feed. */
export async function readFeed(feed: Feed, reading: Reading): Promise<FeedPage> {
  const { after, types, limit, param } = reading;
  const isWanted = matchTypes(types);
  const head = reading.head ?? (await locatePosition(feed.db, feed.account.uuid, after.position));
  if (!isWithin(head, after)) throw await unknownPlace(feed, after, param);
  const events: FeedEvent[] = [];
  let place = after;
  while (place.position < head.position && place.position - after.position < maxScanned) {
    const count = types === null ? limit : scanCount;
    const read = await readAfter(feed, place, { count, maxBytes: maxPageBytes }, types);
    if (read === null) throw await unknownPlace(feed, place, param);
    for (const event of read) {
      place = event;
      if (!isWanted(event.type)) continue;
      events.push(event);
      if (events.length === limit) break;
    }
    if (events.length > 0) break;
  }
  return {
    events,
    place: { position: place.position, mark: place.mark },
    isCaughtUp: place.position >= head.position,
  };
}

/** Like `readFeed`, but waits for an event if there is none yet. The time is over when `until` is aborted. */
export async function waitForFeed(
  feed: Feed,
  watch: Watch,
  reading: Reading,
  until: AbortSignal,
): Promise<FeedPage> {
  const { head: _, ...rest } = reading; // it is the end at the first read only
  let page = await readFeed(feed, reading);
  while (page.events.length === 0 && !until.aborted) {
    if (page.isCaughtUp && !(await watch.next(until))) break;
    page = await readFeed(feed, { ...rest, after: page.place });
  }
  return page;
}

/** The stored bytes of each event, joined without parsing them. */
export function renderPage(owner: CursorOwner, { events, place, isCaughtUp }: FeedPage): string {
  const data = events.map(({ body }) => body).join(',');
  return `{"object":"event_feed","data":[${data}],"cursor":"${encodePlace(owner, place)}","caught_up":${isCaughtUp}}`;
}
