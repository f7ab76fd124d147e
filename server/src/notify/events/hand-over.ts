import type { Signals } from '../../platform/db/signals.ts';
import type { NewEvent } from './new-event.ts';

/** A delivery as it was queued by the statement that wrote its event. */
export type QueuedDelivery = {
  event_id: string;
  delivery_id: string;
  endpoint_id: string;
  /** Of the endpoint's row when it was queued. */
  endpoint_version: string;
};

/** An event that this process has just committed. */
export type Committed = {
  event: NewEvent;
  isTest: boolean;
  deliveries: QueuedDelivery[];
  /** When its statement was sent, by the monotonic clock: a claim that ended later may have found its deliveries already. */
  sentAtMs: number;
};

export type HandOver = ReturnType<typeof createHandOver>;

/** What code that commits events needs. */
export type HandingOver = { handOver: Pick<HandOver, 'announce'> };

/**
 * Passes events from the code that commits them to this process's sender, which need not read them back from the database. Only a
 * shortcut: the rows stay the truth, and what a sender does not take, or a crash forgets, is found there.
 */
export function createHandOver(signals: Pick<Signals, 'announce'>) {
  const takers = new Set<(committed: Committed) => boolean>();
  const followers = new Set<() => void>();

  function isTaken(committed: Committed): boolean {
    for (const take of takers) if (take(committed)) return true;
    return false;
  }

  return {
    /** Announces the event, so that it is sent and gets its position. */
    announce(committed: Committed): void {
      if (isTaken(committed)) for (const follow of followers) follow();
      else signals.announce('deliveries', committed.event.accountUuid);
    },
    /** `take` returns whether it sends all deliveries of the event. Returns a function that ends it. */
    onCommit(take: (committed: Committed) => boolean): () => void {
      takers.add(take);
      return () => void takers.delete(take);
    },
    /** Called for events of which nothing is left to send. Returns a function that ends it. */
    onTaken(follow: () => void): () => void {
      followers.add(follow);
      return () => void followers.delete(follow);
    },
  };
}

// The columns of `QueuedDelivery`.
const columns = ['event_id', 'delivery_id', 'endpoint_id', 'endpoint_version'];

/** SQL: adds the deliveries of `emitFrom` that wait for nothing to a statement's own rows, of this many columns. */
export function withQueued(own: string, columnCount: number): string {
  return `
select own.*, ${columns.map((name) => `null::${name === 'endpoint_version' ? 'text' : 'uuid'} as ${name}`).join(', ')}
from (${own}) own
union all
select ${'null, '.repeat(columnCount)}${columns.join(', ')}
from subscribed
where delivery_id in (select id from fanned_out)`;
}

/** Divides the rows of such a statement into its own, and the deliveries of each event. */
export function splitQueued<Own extends object>(rows: (Own & QueuedDelivery)[]) {
  const own: Own[] = [];
  const deliveriesOf = new Map<string, QueuedDelivery[]>();
  for (const row of rows) {
    const { event_id: eventUuid } = row as { event_id: string | null };
    if (eventUuid === null) {
      own.push(row);
      continue;
    }
    const uuid = eventUuid.replaceAll('-', ''); // as a new event has it
    deliveriesOf.set(uuid, [...(deliveriesOf.get(uuid) ?? []), row]);
  }
  return { own, deliveriesOf: (event: NewEvent) => deliveriesOf.get(event.uuid) ?? [] };
}
