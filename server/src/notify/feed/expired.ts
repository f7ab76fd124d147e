import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { DatabaseUnavailable } from '../../platform/db/unavailable.ts';
import { beginning, encodePlace, type Place } from './cursor.ts';
import { type FeedRow, findCurrentHead, findMark, type Head } from './sql.ts';

/** Decides when a page of up to `maxBytes` is read. */
export type Pace = (maxBytes: number, read: () => Promise<FeedRow[]>) => Promise<FeedRow[]>;

/** Without `pace`, pages are read at once. */
export type Feed = { db: Queryable; account: { id: string; uuid: string }; pace?: Pace };

/** The oldest place from which nothing has been removed. */
export async function oldestPlace({ db, account }: Feed, head: Head): Promise<Place> {
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
export async function hasMark({ db, account }: Feed, { position, mark }: Place): Promise<boolean> {
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
