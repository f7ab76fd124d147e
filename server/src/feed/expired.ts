import { AppError } from '../app-error.ts';
import type { Queryable } from '../db/database.ts';
import { beginning, encodePlace, type Place } from './cursor.ts';
import { findHead, type Head } from './sql/find-head.ts';
import { findMark } from './sql/find-mark.ts';

export type Feed = { db: Queryable; account: { id: string; uuid: string } };

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

/** The refusal of a place that is no longer, or not any more, in the feed. Names the oldest place to continue from. */
export async function expired(feed: Feed, param?: string): Promise<AppError> {
  const oldest = await oldestPlace(feed, await findHead(feed.db, feed.account.uuid));
  return new AppError(
    'cursor_expired',
    'Events after this place in the feed were removed, or the database was restored to a point before it. error.cursor is the oldest place to continue from.',
    { ...(param !== undefined && { param }), cursor: encodePlace(feed.account.id, oldest) },
  );
}
