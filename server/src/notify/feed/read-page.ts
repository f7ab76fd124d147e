import { deployment } from '../../accounts/deployment.ts';
import { withAccount } from '../events/with-account.ts';
import type { Place } from './cursor.ts';
import type { Feed } from './find-place.ts';
import { readEvents, type TypeFilter } from './sql/read.ts';

/** An event of the feed, with its place: the cursor after it. The body is empty if its type was not asked for. */
export type FeedEvent = Place & { type: string; body: string };

/**
 * The next events after a place, of all types, those of `types` with their bodies. Null if the place is not in the feed, or an event
 * after it was removed.
 */
export async function readAfter(
  { db, account, pace = (_, read) => read() }: Feed,
  after: Place,
  bounds: { count: number; maxBytes: number },
  types: readonly string[] | null = null,
): Promise<FeedEvent[] | null> {
  const from = { after: after.position, types: typeFilterOf(types), ...bounds };
  const rows = await pace(bounds.maxBytes, () => readEvents(db, account.uuid, from));
  if (after.position > 0) {
    const own = rows.shift();
    if (own?.position !== after.position || own.mark !== after.mark) return null;
  }
  const events: FeedEvent[] = [];
  const isDeployment = account.uuid === deployment.uuid;
  for (const { position, mark, accountUuid, type, body } of rows) {
    if (type === null || body === null || position !== after.position + events.length + 1) return null;
    const shown = isDeployment && body !== '' ? withAccount(body, accountUuid) : body;
    events.push({ position, mark, type, body: shown });
  }
  return events;
}

/** Null: all types. */
function typeFilterOf(types: readonly string[] | null): TypeFilter | null {
  if (types === null) return null;
  return {
    names: types.filter((type) => !type.endsWith('.*')),
    prefixes: types.filter((type) => type.endsWith('.*')).map((type) => type.slice(0, -1)),
  };
}

/** Whether an event type is one of these names, or of a family such as `esim.*`. Null: all types. */
export function matchTypes(types: readonly string[] | null): (type: string) => boolean {
  const filter = typeFilterOf(types);
  if (filter === null) return () => true;
  const names = new Set(filter.names);
  return (type) => names.has(type) || filter.prefixes.some((prefix) => type.startsWith(prefix));
}
