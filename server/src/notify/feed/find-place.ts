import { AppError } from '../../platform/app-error.ts';
import type { Cell } from '../../platform/cell.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { DatabaseUnavailable } from '../../platform/db/unavailable.ts';
import { lowestUuidAt } from '../../platform/ids/uuid-range.ts';
import { beginning, decodePlace, encodePlace, type Place } from './cursor.ts';
import {
  type FeedRow,
  type Head,
  type Located,
  locateCurrentPosition,
  locatePosition,
  locateSince,
} from './sql/read.ts';

/** Decides when a page of up to `maxBytes` is read. */
export type Pace = (maxBytes: number, read: () => Promise<FeedRow[]>) => Promise<FeedRow[]>;

/** Without `pace`, pages are read at once. */
export type Feed = { db: Queryable; account: { id: string; uuid: string }; cell: Cell; pace?: Pace };

/**
 * A place in the feed, and the feed's end when it was looked up. One statement reads both: an event that gets its position between
 * two would be before the end that the second sees, and skipped.
 */
export type Found = { place: Place; head: Head };

/** The place that `after` means: a cursor, `start` or `now`. Refuses a cursor that is not in the feed. */
export async function findPlace(feed: Feed, after: string, param = 'after'): Promise<Found> {
  if (after !== 'now' && after !== 'start') {
    return requirePlace(feed, decodePlace(feed.account.id, after, param), param);
  }
  const head = await locatePosition(feed.db, feed.account.uuid, 0);
  return { place: after === 'now' ? endOf(head) : oldestOf(head), head };
}

/** Refuses a place that is not in the feed. `param` is where it came from. */
export async function requirePlace(feed: Feed, place: Place, param: string): Promise<Found> {
  const head = await locatePosition(feed.db, feed.account.uuid, place.position);
  if (!isKept(head, place)) throw await unknownPlace(feed, place, param);
  return { place, head };
}

/** The place before the first event that was created at or after this time. */
export async function findPlaceSince({ db, account }: Feed, unixSeconds: number): Promise<Found> {
  const head = await locateSince(db, account.uuid, lowestUuidAt(unixSeconds * 1_000));
  if (head.since === null) return { place: endOf(head), head };
  if (head.since <= head.expiredThrough) return { place: oldestOf(head), head };
  return { place: { position: head.since - 1, mark: head.markAt ?? 0 }, head };
}

function endOf({ position, mark }: Head): Place {
  return { position, mark };
}

/** The oldest place from which nothing has been removed. */
function oldestOf({ expiredThrough, expiredMark }: Head): Place {
  return expiredThrough === 0 ? beginning : { position: expiredThrough, mark: expiredMark ?? 0 };
}

/** Whether a place is in what is kept, as far as the head tells. The mark of an earlier place is checked when it is read from. */
export function isWithin(head: Head, { position, mark }: Place): boolean {
  if (position < head.expiredThrough || position > head.position) return false;
  return position < head.position || mark === head.mark;
}

/** Whether what follows the place is still what followed it when the cursor was given out. */
function isKept(located: Located, place: Place): boolean {
  const mark = place.position === 0 ? 0 : located.markAt;
  return isWithin(located, place) && mark === place.mark;
}

/**
 * The refusal of a place that the feed does not have. After a switchover, a process that is still connected to the old primary
 * does not know the newest places: then the client should just try again. Otherwise it names the oldest place to continue from.
 */
export async function unknownPlace(feed: Feed, place: Place, param?: string): Promise<Error> {
  const { db, account } = feed;
  const head = await locateCurrentPosition(db, account.uuid, place.position);
  if (isKept(head, place)) {
    return new DatabaseUnavailable('the place in the feed was looked up on an old primary');
  }
  return new AppError(
    'cursor_expired',
    'Events after this place in the feed were removed, or the database was restored to a point before it. error.cursor is the oldest place to continue from.',
    { ...(param !== undefined && { param }), cursor: encodePlace(feed, oldestOf(head)) },
  );
}
