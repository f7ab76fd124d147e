import { lowestUuidAt } from '../../platform/ids/uuid-range.ts';
import { beginning, decodePlace, type Place } from './cursor.ts';
import { type Feed, hasMark, isWithin, oldestPlace, unknownPlace } from './expired.ts';
import { findHead, findMark, findPositionSince } from './sql.ts';

/** The place that `after` means: a cursor, `start` or `now`. Refuses a cursor that is not in the feed. */
export async function findPlace(feed: Feed, after: string, param = 'after'): Promise<Place> {
  if (after !== 'now' && after !== 'start') {
    return requirePlace(feed, decodePlace(feed.account.id, after, param), param);
  }
  const head = await findHead(feed.db, feed.account.uuid);
  return after === 'now' ? { position: head.position, mark: head.mark } : oldestPlace(feed, head);
}

/** Refuses a place that is not in the feed. `param` is where it came from. */
export async function requirePlace(feed: Feed, place: Place, param: string): Promise<Place> {
  const head = await findHead(feed.db, feed.account.uuid);
  if (!isWithin(head, place) || !(await hasMark(feed, place))) throw await unknownPlace(feed, place, param);
  return place;
}

/** The place before the first event that was created at or after this time. */
export async function findPlaceSince(feed: Feed, unixSeconds: number): Promise<Place> {
  const { db, account } = feed;
  const position = await findPositionSince(db, account.uuid, lowestUuidAt(unixSeconds * 1_000));
  const head = await findHead(db, account.uuid);
  if (position === null) return { position: head.position, mark: head.mark };
  const before = Math.max(position - 1, head.expiredThrough);
  if (before === 0) return beginning;
  return { position: before, mark: (await findMark(db, account.uuid, before)) ?? 0 };
}
