import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { DatabaseUnavailable } from '../../platform/db/unavailable.ts';
import { lowestUuidAt } from '../../platform/ids/uuid-range.ts';
import { beginning, decodePlace, encodePlace, type Place } from './cursor.ts';
import {
  type FeedRow,
  findCurrentHead,
  findHead,
  findMark,
  findPositionSince,
  type Head,
} from './sql/read.ts';

/** Decides when a page of up to `maxBytes` is read. */
export type Pace = (maxBytes: number, read: () => Promise<FeedRow[]>) => Promise<FeedRow[]>;

/** Without `pace`, pages are read at once. */
export type Feed = { db: Queryable; account: { id: string; uuid: string }; pace?: Pace };

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

/** The oldest place from which nothing has been removed. */
async function oldestPlace({ db, account }: Feed, head: Head): Promise<Place> {
  const position = head.expiredThrough;
  if (position === 0) return beginning;
  return { position, mark: (await findMark(db, account.uuid, position)) ?? 0 };
}

/** Whether a place is in what is kept, as far as the head tells. The mark of an earlier place is checked when it is read from. */
export function isWithin(head: Head, { position, mark }: Place): boolean {
  if (position < head.expiredThrough || position > head.position) return false;
  return position < head.position || mark === head.mark;
}

/** Whether the place has the mark of its position: what follows it is still what followed it when the cursor was given out. */
async function hasMark({ db, account }: Feed, { position, mark }: Place): Promise<boolean> {
  if (position === 0) return mark === 0;
  return (await findMark(db, account.uuid, position)) === mark;
}

/**
 * The refusal of a place that the feed does not have. After a switchover, a process that is still connected to the old primary
 * does not know the newest places: then the client should just try again. Otherwise it names the oldest place to continue from.
 */
export async function unknownPlace(feed: Feed, place: Place, param?: string): Promise<Error> {
  const head = await findCurrentHead(feed.db, feed.account.uuid);
  if (isWithin(head, place) && (await hasMark(feed, place))) {
    return new DatabaseUnavailable('the place in the feed was looked up on an old primary');
  }
  return expiredAt(feed, head, param);
}

async function expiredAt(feed: Feed, head: Head, param?: string): Promise<AppError> {
  const oldest = await oldestPlace(feed, head);
  return new AppError(
    'cursor_expired',
    'Events after this place in the feed were removed, or the database was restored to a point before it. error.cursor is the oldest place to continue from.',
    { ...(param !== undefined && { param }), cursor: encodePlace(feed.account.id, oldest) },
  );
}
