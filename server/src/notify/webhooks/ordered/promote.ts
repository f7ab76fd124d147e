import type { Database, Queryable } from '../../../platform/db/database.ts';
import { createGroupCommit, type GroupCommit } from '../../../platform/db/group-commit.ts';
import type { Signals } from '../../../platform/db/signals.ts';
import { type OrderKey, type Promoted, promoteFirst } from './sql.ts';

export type { OrderKey } from './sql.ts';

export type PromoteDeps = { db: Queryable; signals: Pick<Signals, 'announce'> };

// Bounds how long a statement holds its row locks, and how old its snapshot gets: a recovery may begin meanwhile.
const batchSize = 200;

/** Moves the first blocked delivery of each key to the queue if its turn has come. */
export async function promote(db: Queryable, keys: readonly OrderKey[]): Promise<Promoted[]> {
  const distinct = new Map(keys.map((key) => [orderKeyText(key), key]));
  const sorted = [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
  const promoted: Promoted[] = [];
  for (let first = 0; first < sorted.length; first += batchSize) {
    promoted.push(...(await promoteFirst(db, sorted.slice(first, first + batchSize))));
  }
  return promoted;
}

/** Like `promote`, and wakes the senders. */
export async function promoteAndAnnounce(
  { db, signals }: PromoteDeps,
  keys: readonly OrderKey[],
): Promise<number> {
  const promoted = await promote(db, keys);
  for (const accountUuid of new Set(promoted.map((one) => one.accountUuid))) {
    signals.announce('deliveries', accountUuid);
  }
  return promoted.length;
}

/** Moves the delivery that waited for an ended one to the queue, in batches. Returns null if none did. */
export function createPromoter(db: Database): GroupCommit<OrderKey, Promoted | null> {
  return createGroupCommit({
    async write(keys: OrderKey[]) {
      const promoted = await promote(db, keys);
      const nextOf = new Map(promoted.map((one) => [orderKeyText(one), one]));
      return keys.map((key) => nextOf.get(orderKeyText(key)) ?? null);
    },
    mostInFlight: 1,
  });
}

/** The same for equal keys. Endpoint ids are unique. */
function orderKeyText({ endpointUuid, iccid }: OrderKey): string {
  return `${endpointUuid}/${iccid}`;
}
